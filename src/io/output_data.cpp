#include "io/output_data.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace gpuaes {
namespace {

// Data is written to disk in steps of this size while the program runs, which leaves little for fsync(2) at
// the end.
constexpr std::uint64_t flush_bytes = 8 << 20;

// Space for direct writes is allocated in steps of this size.
constexpr std::uint64_t allocate_bytes = 256 << 20;

// The size of a hole in a sparse file, and where it may begin: a page, which most file systems store as a
// block.
constexpr std::size_t hole_bytes = 4096;

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

OutputData::OutputData(Fd fd, std::string name, const Rules& rules, Cancel& cancel)
    : FileSink(std::move(fd), std::move(name), cancel), rules_(rules) {}

// A full disk is detected early. Useless in tmpfs, where it would only touch all of the memory twice.
void OutputData::expect(std::uint64_t size) {
  struct statfs file_system {};
  if (fstatfs(fd().get(), &file_system) != 0 || file_system.f_type == TMPFS_MAGIC) return;
  int error = 0;
  do {
    cancel_.check();
    error = reserve(0, size);
  } while (error == EINTR);
  if (error == ENOSPC || error == EDQUOT)
    throw IoError(io_error("cannot write", name_, error).what(),
                  fmt::format("{} bytes are needed; free some space, or write to another file system", size));
  if (error == EFBIG) throw io_error("cannot write", name_, error);
  expected_ = error == 0 ? size : 0;
}

bool OutputData::limited_by_disk() const {
  return is_large() && !rules_.sparse && DirectWriter::supports(fd().get());
}

void OutputData::write(std::span<const std::byte> bytes) {
  if (!tried_direct_ && is_large()) begin_direct();
  if (is_direct()) allocate(size() + bytes.size());
  rules_.sparse ? write_sparse(bytes) : FileSink::write(bytes);
  if (is_direct()) flushed_ = size();
  if (size() - flushed_ < flush_bytes) return;
  // Only starts the write; fsync(2) reports errors.
  sync_file_range(fd().get(), static_cast<off_t>(flushed_), static_cast<off_t>(size() - flushed_),
                  SYNC_FILE_RANGE_WRITE);
  flushed_ = size();
}

void OutputData::end() {
  end_direct();
  if ((rules_.sparse || size() < std::max(expected_, allocated_)) && !set_size(fd().get(), size()))
    throw io_error("cannot write", name_, errno);
}

void OutputData::finish() {
  if (allocated_ > 0)
    posix_fadvise(fd().get(), 0, 0, POSIX_FADV_DONTNEED);  // what is cached from before direct writes
  FileSink::finish();
}

bool OutputData::is_large() const {
  return std::max({rules_.bytes, expected_, size()}) >= rules_.direct_from;
}

void OutputData::begin_direct() {
  tried_direct_ = true;
  allocated_ = size();
  if (!rules_.sparse) FileSink::begin_direct();
}

// Makes the file at least `size` bytes long: a direct write that extends a file is slower. end() sets the
// final size. Errors are ignored: if the disk is full, a later write fails.
void OutputData::allocate(std::uint64_t size) {
  if (size <= allocated_) return;
  const std::uint64_t expected = std::max(expected_, rules_.bytes);
  std::uint64_t ahead = expected_ >= size ? allocate_bytes : std::min(allocate_bytes, free_bytes() / 16);
  if (expected >= size) ahead = std::min(ahead, expected - size);
  const std::uint64_t begin = std::exchange(allocated_, size + ahead);
  fallocate(fd().get(), 0, static_cast<off_t>(begin), static_cast<off_t>(allocated_ - begin));
}

// Writes what is between holes.
void OutputData::write_sparse(std::span<const std::byte> bytes) {
  std::uint64_t at = size();
  std::size_t pending = 0;
  while (pending < bytes.size()) {
    const std::span<const std::byte> rest = bytes.subspan(pending);
    const auto block = rest.first(std::min<std::size_t>(hole_bytes - at % hole_bytes, rest.size()));
    if (is_zero(block)) {
      FileSink::write(bytes.first(pending));
      skip(block.size());
      bytes = bytes.subspan(pending + block.size());
      pending = 0;
    } else {
      pending += block.size();
    }
    at += block.size();
  }
  FileSink::write(bytes);
}

}  // namespace gpuaes
