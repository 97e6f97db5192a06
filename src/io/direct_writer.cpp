#include "io/direct_writer.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "io/source_sink.hpp"

namespace gpuaes {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t page_bytes = Sink::page_bytes;

// The largest blocks. Direct writes begin at a multiple of this.
constexpr std::size_t max_block_bytes = 64 << 10;

// One write is at most this large. Larger ones are faster, but a request to stop waits for the current one.
constexpr std::size_t min_call_bytes = 1 << 20, max_call_bytes = 4 << 20;
constexpr milliseconds fast_call{25}, slow_call{250};

// Smaller pieces, and those whose memory is at the wrong place in a page, are collected in a buffer of this
// size: small writes are slow.
constexpr std::size_t min_piece_bytes = 512 << 10, buffer_bytes = min_call_bytes;

// The unit of direct writes: a block of the file system, but at least a page. 0 if direct writes are not
// possible or do not pay off: network file systems cache data for a reason, and Btrfs may compress data or
// write it through the cache to compute checksums.
std::size_t find_block_bytes(int fd) {
  struct statfs file_system {};
  if (fstatfs(fd, &file_system) != 0) return 0;
  const auto type = static_cast<unsigned long>(file_system.f_type);
  const bool is_disk = type == EXT4_SUPER_MAGIC || type == XFS_SUPER_MAGIC || type == F2FS_SUPER_MAGIC;
#ifdef STATX_DIOALIGN
  struct statx status {};
  if ((is_disk || type == OVERLAYFS_SUPER_MAGIC) &&
      statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 && (status.stx_mask & STATX_DIOALIGN) != 0) {
    const std::size_t block = std::max<std::size_t>(status.stx_dio_offset_align, page_bytes);
    const bool usable = status.stx_dio_offset_align > 0 && status.stx_dio_mem_align <= page_bytes &&
                        block <= max_block_bytes && std::has_single_bit(block);
    return usable ? block : 0;
  }
#endif
  return is_disk ? page_bytes : 0;  // an older kernel
}

bool begins_page(const std::byte* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % page_bytes == 0;
}

}  // namespace

void DirectWriter::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{page_bytes});
}

bool DirectWriter::supports(int fd) {
  return find_block_bytes(fd) > 0;
}

std::unique_ptr<DirectWriter> DirectWriter::open(int fd) {
  const std::size_t block = find_block_bytes(fd);
  const int flags = fcntl(fd, F_GETFL);
  const off_t position = lseek(fd, 0, SEEK_CUR);
  if (block == 0 || flags < 0 || position < 0) return nullptr;
  return std::unique_ptr<DirectWriter>(
      new DirectWriter(fd, flags, block, static_cast<std::uint64_t>(position)));
}

DirectWriter::DirectWriter(int fd, int flags, std::size_t block, std::uint64_t position)
    : fd_(fd),
      flags_(flags),
      block_bytes_(block),
      to_block_(-position % max_block_bytes),
      buffer_(static_cast<std::byte*>(::operator new (buffer_bytes, std::align_val_t{page_bytes}))),
      call_bytes_(min_call_bytes) {}

DirectWriter::~DirectWriter() {
  stop();
  explicit_bzero(buffer_.get(), touched_);
}

void DirectWriter::stop() {
  if (std::exchange(is_direct_, false)) fcntl(fd_, F_SETFL, flags_);
}

ssize_t DirectWriter::write(std::span<const std::byte>& bytes, Cancel& cancel) {
  if (to_block_ > 0) {
    const ssize_t count = write_memory({}, bytes.first(std::min(to_block_, bytes.size())), cancel);
    if (count > 0) {
      to_block_ -= static_cast<std::size_t>(count);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return count;
  }
  if (!is_direct_ && fcntl(fd_, F_SETFL, flags_ | O_DIRECT) != 0) return errno = EINVAL, -1;
  is_direct_ = true;
  const std::size_t to_block = -held_ % block_bytes_;
  const bool can_stay = bytes.size() >= min_piece_bytes && begins_page(bytes.data() + to_block);
  hold_back(bytes, can_stay ? to_block : std::min(bytes.size(), buffer_bytes - held_));
  if (!can_stay && held_ < buffer_bytes) return 0;
  const std::size_t in_place = can_stay ? std::min(bytes.size(), call_bytes_ - held_) : 0;
  const ssize_t count =
      write_memory(held_back(), bytes.first(in_place / block_bytes_ * block_bytes_), cancel);
  if (count <= 0) return count;
  const std::size_t from_buffer = std::min(static_cast<std::size_t>(count), held_);
  held_ -= from_buffer;
  std::memmove(buffer_.get(), buffer_.get() + from_buffer, held_);
  bytes = bytes.subspan(static_cast<std::size_t>(count) - from_buffer);
  return count;
}

void DirectWriter::hold_back(std::span<const std::byte>& bytes, std::size_t size) {
  std::memcpy(buffer_.get() + held_, bytes.data(), size);  // std::ranges::copy() is a slow loop in g++ 12
  held_ += size;
  touched_ = std::max(touched_, held_);
  bytes = bytes.subspan(size);
}

// One call, which is repeated if a signal interrupts it.
ssize_t DirectWriter::write_memory(std::span<const std::byte> first, std::span<const std::byte> second,
                                   Cancel& cancel) {
  std::array<iovec, 2> memory{};
  int pieces = 0;
  for (const std::span<const std::byte> bytes : {first, second})
    if (!bytes.empty()) memory.at(pieces++) = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  for (;;) {
    const auto start = std::chrono::steady_clock::now();
    ssize_t count;
    int error;
    {
      Cancel::Blocking blocking(cancel);
      count = writev(fd_, memory.data(), pieces);
      error = errno;
    }
    if (count < 0 && error == EINTR) continue;
    const auto took = std::chrono::steady_clock::now() - start;
    if (took < fast_call) call_bytes_ = std::min(2 * call_bytes_, max_call_bytes);
    if (took > slow_call) call_bytes_ = std::max(call_bytes_ / 2, min_call_bytes);
    return errno = error, count;
  }
}

}  // namespace gpuaes
