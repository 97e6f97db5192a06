#include "pipeline/ring.hpp"

#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <limits>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace gpuaes {
namespace {

// No two chunks share a page, and so no cache line.
constexpr std::size_t page_bytes = 4096;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

// The wiped memory of a thread's last ring. A thread that seals one small file after another uses it again:
// mapping and unmapping it would delay all threads, and take longer than the rest of a file.
class Spare {
 public:
  Spare() = default;
  Spare(const Spare&) = delete;
  Spare& operator=(const Spare&) = delete;
  ~Spare() { put({}); }

  // Empty if the size differs.
  std::span<std::byte> take(std::size_t bytes) {
    return memory_.size() == bytes ? std::exchange(memory_, {}) : std::span<std::byte>{};
  }

  // Returns the previous memory to the system, or this one if it is large.
  void put(std::span<std::byte> memory) {
    if (memory.size() <= max_bytes) std::swap(memory_, memory);
    if (!memory.empty()) munmap(memory.data(), memory.size());
  }

 private:
  static constexpr std::size_t max_bytes = 1 << 20;
  std::span<std::byte> memory_;
};

thread_local Spare spare;

std::span<std::byte> map_memory(std::size_t bytes) {
  if (const std::span<std::byte> memory = spare.take(bytes); !memory.empty()) return memory;
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw IoError(
        fmt::format("cannot allocate {} MiB of memory for buffers: {}", bytes >> 20, strerror(errno)),
        Advice::use_smaller_chunks);
  madvise(memory, bytes, MADV_DONTDUMP);
  return {static_cast<std::byte*>(memory), bytes};
}

}  // namespace

Ring::Ring(std::size_t chunks, std::size_t in_bytes, std::size_t out_bytes, bool huge_pages)
    : in_bytes_(in_bytes), out_bytes_(out_bytes), chunks_(chunks), entries_(chunks) {
  const std::size_t in_stride = whole_pages(std::max(in_bytes, out_bytes)) + page_bytes;
  const std::size_t out_stride = whole_pages(out_bytes) + page_bytes;
  const std::size_t max_stride = std::numeric_limits<std::ptrdiff_t>::max() / chunks / 2;
  if (in_stride > max_stride || out_stride > max_stride)
    throw IoError("the buffers would exceed the address space", Advice::use_smaller_chunks);
  in_all_ = in_stride * chunks;
  memory_ = map_memory(in_all_ + out_stride * chunks);
  if (huge_pages) madvise(memory_.data(), memory_.size(), MADV_HUGEPAGE);
  for (std::size_t i = 0; i < chunks; ++i) {
    chunks_[i].memory_ = memory_.subspan(i * in_stride, in_stride);
    place(chunks_[i], 0);
    chunks_[i].out_room_ = memory_.subspan(in_all_ + i * out_stride, out_stride);
    place_output(chunks_[i], 0);
  }
}

Ring::~Ring() {
  for (const Chunk& chunk : chunks_) {
    if (chunk.in_touched > 0) explicit_bzero(chunk.memory_.data(), page_bytes + chunk.in_touched);
    if (chunk.out_touched > 0) explicit_bzero(chunk.out_room_.data(), page_bytes + chunk.out_touched);
  }
  spare.put(memory_);
}

// Sets where in a page the memory for the input begins.
void Ring::place(Chunk& chunk, std::size_t begin) {
  chunk.in_place_memory = chunk.memory_.subspan(begin, std::max(in_bytes_, out_bytes_));
  chunk.in_memory = chunk.in_place_memory.first(in_bytes_);
}

void Ring::place_output(Chunk& chunk, std::size_t begin) const {
  chunk.out_memory = chunk.out_room_.subspan(begin, out_bytes_);
}

// Tries for a while before it blocks. With many lanes and small chunks, sleeping and waking would take longer
// than the work under the mutex. Trying more often would delay the lane that holds it.
std::unique_lock<std::mutex> Ring::enter() const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds between_tries(5);
  for (int tries = 0; tries < 40; ++tries) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock) return lock;
    for (const auto end = Clock::now() + between_tries; Clock::now() < end;) {
    }
    std::this_thread::yield();  // the lane that holds it may need this CPU
  }
  return std::unique_lock(mutex_);
}

// Holds the mutex. Wakes a lane only after releasing it, since a wakeup takes longer than most of what is
// done under it.
class Ring::Locked {
 public:
  explicit Locked(const Ring& ring) : lock_(ring.enter()) {}
  ~Locked() {
    lock_.unlock();
    notify();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  // wake() and notify() in tests/models/ring.pml
  void wake(Waiter& waiter) {
    waiter.asleep_ = 0;
    notify();  // if one call wakes several lanes, only the last is notified after unlocking
    woken_ = &waiter;
  }

 private:
  void notify() {
    if (woken_ != nullptr) std::exchange(woken_, nullptr)->asleep_.notify_one();
  }

  std::unique_lock<std::mutex> lock_;
  Waiter* woken_ = nullptr;
};

bool Ring::next_is_done() {
  return write_count_ < fill_count_ && entry_at(write_count_).state == State::done;
}

// Whether a lane could start a chunk now.
bool Ring::can_start() {
  const bool can_fill = !closed_ && !reading_ && next_is_empty();
  return can_fill || !given_back_.empty();
}

// Must be called after every change to the state that it reads.
void Ring::note_waits() {
  reader_waits_.set(!cancelled_ && !closed_ && !reading_ && !next_is_empty());
  writer_waits_.set(!cancelled_ && !all_written() && !writing_ && !next_is_done());
}

// next_task() in tests/models/ring.pml
Ring::Task Ring::next_task(Waiter& waiter, bool start, std::optional<Claim>& claim) {
  if (can_write()) {
    const Entry& entry = entry_at(write_count_);
    const bool other_lane_writes = entry.done_by != &waiter && entry.done_by->to_write_;
    if (!other_lane_writes) {
      waiter.to_write_ = false;
      writing_ = true;
      return {Task::Kind::write, &chunk_at(write_count_)};
    }
  }
  if (!start || !can_start()) return {};
  if (!given_back_.empty()) {
    Chunk* const chunk = given_back_.front();
    given_back_.erase(given_back_.begin());
    entry_of(*chunk).done_by = &waiter;
    return {Task::Kind::work, chunk};
  }
  claim = claim_next();
  entry_at(claim->number) = {&waiter, State::held, claim->in_source};
  reading_ = !claim->in_source;
  return {claim->in_source ? Task::Kind::work : Task::Kind::fill, &chunk_at(claim->number)};
}

// claim() in tests/models/ring.pml
Ring::Claim Ring::claim_next() {
  if (parallel_at_ == parallel_size_) return {.number = fill_count_};
  const std::uint64_t offset = parallel_at_, message_end = source_->message_end(offset);
  const std::uint64_t left = std::min(message_end, parallel_size_) - offset;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(in_bytes_, left));
  parallel_at_ += size;
  return {fill_count_++, true, offset, size, parallel_at_ == message_end};
}

// Does not need the mutex: the lane holds the chunk.
void Ring::prepare(Chunk& chunk, const Claim& claim) {
  place(chunk, claim.in_source ? source_->place_in_page(claim.offset) : 0);
  chunk.number = claim.number;
  chunk.offset = claim.offset;
  chunk.in_size = claim.size;
  chunk.out_size = 0;
  chunk.in_source = claim.in_source;
  chunk.ends_message = claim.ends_message;
  chunk.last = chunk.in_place = false;
}

// take() in tests/models/ring.pml
std::optional<Ring::Task> Ring::try_take(Waiter& waiter, TakeOptions options, Task ended) {
  assert(options.start || !options.wait);  // a lane that cannot start a chunk must not be woken for one
  std::optional<Claim> claim;
  Task task;
  {
    Locked locked(*this);
    if (ended.chunk != nullptr) end(ended, locked);
    if (arriving_ == &waiter) arriving_ = nullptr;
    if (cancelled_) return Task{};
    task = next_task(waiter, options.start, claim);
    note_waits();
    wake_to_start(locked);  // another lane can take what is left
    if (task.kind == Task::Kind::none && options.wait && !all_done()) {
      waiting_.push_back(&waiter);  // may throw
      waiter.asleep_ = 1;
      return std::nullopt;
    }
  }
  if (claim) prepare(*task.chunk, *claim);
  return task;
}

Ring::Task Ring::take(Waiter& waiter, TakeOptions options, Task ended) {
  for (;;) {
    const std::optional<Task> task = try_take(waiter, options, std::exchange(ended, {}));
    if (task) return *task;
    waiter.waited_.set(true);
    waiter.asleep_.wait(1);
    waiter.waited_.set(false);
  }
}

// end_task() in tests/models/ring.pml
void Ring::end(Task task, Locked& locked) {
  if (task.kind == Task::Kind::write) {
    entry_of(*task.chunk).state = State::empty;
    ++write_count_;
    writing_ = false;
    if (can_write()) wake_to_write(entry_at(write_count_), locked);
    if (all_written()) end_.notify_all();
  } else {
    entry_of(*task.chunk).state = State::done;
    ++done_count_;
    if (all_done()) wake_all(locked);
  }
}

// Chunks filled in the reader's turn are written by the lane that processed them, if it is asleep.
void Ring::wake_to_write(const Entry& entry, Locked& locked) {
  if (entry.in_source || !entry.done_by->asleep()) return;
  entry.done_by->to_write_ = true;
  wake(*entry.done_by, locked);
}

void Ring::wake(Waiter& waiter, Locked& locked) {
  waiting_.erase(std::ranges::find(waiting_, &waiter));
  locked.wake(waiter);
}

// wake_to_start() in tests/models/ring.pml
void Ring::wake_to_start(Locked& locked) {
  if (!can_start() || arriving_ != nullptr || waiting_.empty()) return;
  arriving_ = waiting_.back();
  wake(*arriving_, locked);
}

void Ring::wake_all(Locked& locked) {
  while (!waiting_.empty()) wake(*waiting_.back(), locked);
}

// filled() in tests/models/ring.pml
void Ring::filled([[maybe_unused]] Chunk& chunk, bool closed) {
  Locked locked(*this);
  assert(chunk.number == fill_count_);
  reading_ = false;
  closed_ = closed;
  ++fill_count_;
  note_waits();
  wake_to_start(locked);
}

void Ring::unfilled(Chunk& chunk) {
  Locked locked(*this);
  reading_ = false;
  entry_of(chunk).state = State::empty;
  note_waits();
  wake_to_start(locked);
}

// "fails" in tests/models/ring.pml
void Ring::give_back(Chunk& chunk) {
  Locked locked(*this);
  given_back_.push_back(&chunk);
  wake_to_start(locked);
}

// cancel() in tests/models/ring.pml
void Ring::cancel() {
  {
    Locked locked(*this);
    cancelled_ = true;
    note_waits();
    wake_all(locked);
  }
  end_.notify_all();
}

// main_thread in tests/models/ring.pml
void Ring::wait_for_end() {
  std::unique_lock lock = enter();
  end_.wait(lock, [&] { return cancelled_ || all_written(); });
}

Ring::Waits Ring::waits() const {
  const std::unique_lock lock = enter();
  return {reader_waits_.seconds(), writer_waits_.seconds()};
}

Ring make_ring(const LanePlan& plan, const Session& session) {
  const std::size_t plain = std::min(session.unit_in(), session.unit_out());
  const std::size_t units = (plan.chunk_bytes + plain - 1) / plain;
  return Ring(plan.chunks, units * session.unit_in(), units * session.unit_out(), plan.huge_pages);
}

LaneSetup lane_setup(const Ring& ring, const Session& session, bool in_place) {
  return {.memory = in_place ? ring.in_memory() : ring.memory(),
          .max_in = ring.in_bytes(),
          .max_out = session.in_place() ? 0 : ring.out_bytes(),
          .cipher = session.cipher(),
          .rules = session.rules()};
}

}  // namespace gpuaes
