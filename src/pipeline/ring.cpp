#include "pipeline/ring.hpp"

#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "error.hpp"

namespace gpuaes {
namespace {

// Chunks start on pages, so that a device copies them whole and huge pages serve several.
constexpr std::size_t page_bytes = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

std::span<std::byte> map_memory(std::size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw IoError(fmt::format("cannot get {} MiB of memory for the ring: {}", bytes >> 20, strerror(errno)),
                  "a smaller --chunk-size needs less");
  madvise(memory, bytes, MADV_DONTDUMP);
  return {static_cast<std::byte*>(memory), bytes};
}

}  // namespace

Ring::Ring(std::size_t chunks, std::size_t in_bytes, std::size_t out_bytes) : in_bytes_(in_bytes), chunks_(chunks) {
  const std::size_t in_stride = whole_pages(in_bytes);
  const std::size_t stride = in_stride + whole_pages(out_bytes);
  if (stride > std::numeric_limits<std::ptrdiff_t>::max() / chunks)
    throw IoError("the ring would be larger than the address space", "a smaller --chunk-size needs less");
  memory_ = map_memory(stride * chunks);
  for (std::size_t i = 0; i < chunks; ++i) {
    chunks_[i].in_memory = memory_.subspan(i * stride, in_bytes);
    chunks_[i].out_memory = memory_.subspan(i * stride + in_stride, out_bytes);
  }
}

Ring::~Ring() {
  for (const Chunk& chunk : chunks_) {
    const bool was_held = chunk.state_ == Chunk::State::held;  // cancelled in the middle of it
    explicit_bzero(chunk.in_memory.data(), was_held ? chunk.in_memory.size() : chunk.in_used_);
    explicit_bzero(chunk.out_memory.data(), was_held ? chunk.out_memory.size() : chunk.out_used_);
  }
  munmap(memory_.data(), memory_.size());
}

Chunk* Ring::fill() {
  std::unique_lock lock(mutex_);
  Chunk& chunk = slot(fill_count_);
  emptied_.wait(lock, [&] { return cancelled_ || chunk.state_ == Chunk::State::empty; });
  if (cancelled_) return nullptr;
  chunk.state_ = Chunk::State::held;
  chunk.in_size = chunk.out_size = 0;
  chunk.lane_reads = false;
  return &chunk;
}

void Ring::filled(Chunk& chunk) {
  {
    std::lock_guard lock(mutex_);
    chunk.state_ = Chunk::State::filled;
    chunk.in_used_ = std::max(chunk.in_used_, chunk.in_size);
    ++fill_count_;
    input_bytes_ += chunk.in_size;
  }
  filled_.notify_one();
  progressed_.notify_all();
}

void Ring::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  filled_.notify_all();
  done_.notify_all();
  progressed_.notify_all();
}

Chunk* Ring::find_filled() {
  for (; take_from_ < fill_count_; ++take_from_) {
    Chunk& chunk = slot(take_from_);
    if (chunk.state_ != Chunk::State::filled) continue;
    chunk.state_ = Chunk::State::held;
    ++take_from_;
    return &chunk;
  }
  return nullptr;
}

Chunk* Ring::take() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (cancelled_) return nullptr;
    if (Chunk* chunk = find_filled()) return chunk;
    if (all_done()) return nullptr;
    filled_.wait(lock);
  }
}

Chunk* Ring::try_take() {
  std::lock_guard lock(mutex_);
  return cancelled_ ? nullptr : find_filled();
}

void Ring::done(Chunk& chunk) {
  bool all;
  bool next;
  {
    std::lock_guard lock(mutex_);
    chunk.state_ = Chunk::State::done;
    chunk.out_used_ = std::max(chunk.out_used_, chunk.out_size);
    ++done_count_;
    all = all_done();
    next = &chunk == &slot(write_count_);
  }
  if (next) done_.notify_one();    // the writer waits for this one alone
  if (all) filled_.notify_all();  // lanes that wait in take() can go home
}

void Ring::give_back(Chunk& chunk) {
  {
    std::lock_guard lock(mutex_);
    chunk.state_ = Chunk::State::filled;
    chunk.out_used_ = std::max(chunk.out_used_, chunk.out_size);  // the lane may have written some of it
    take_from_ = write_count_;  // it is somewhere between what was written and what was filled
  }
  filled_.notify_one();
}

Chunk* Ring::front() {
  std::unique_lock lock(mutex_);
  Chunk& chunk = slot(write_count_);
  done_.wait(lock, [&] {
    return cancelled_ || chunk.state_ == Chunk::State::done || (closed_ && write_count_ == fill_count_);
  });
  return !cancelled_ && chunk.state_ == Chunk::State::done ? &chunk : nullptr;
}

void Ring::release(Chunk& chunk) {
  {
    std::lock_guard lock(mutex_);
    chunk.state_ = Chunk::State::empty;
    ++write_count_;
  }
  emptied_.notify_one();
}

void Ring::cancel() {
  {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  emptied_.notify_all();
  filled_.notify_all();
  done_.notify_all();
  progressed_.notify_all();
}

bool Ring::wait_for_input(std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  progressed_.wait(lock, [&] { return cancelled_ || closed_ || input_bytes_ >= bytes; });
  return !cancelled_ && input_bytes_ >= bytes;
}

}  // namespace gpuaes
