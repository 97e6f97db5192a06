#include "io/fd_source_sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace gpuaes {
namespace {

// Pipes are much slower with their default size of 64 KiB. If the system refuses a larger one, the pipe is
// used as it is.
constexpr int pipe_bytes = 1 << 20;

// Limits one read or write. Larger ones were not faster, and a request to stop waits for the current one.
constexpr std::size_t call_bytes = 1 << 20;

// Limits one write to a file. Aligned writes of 1 MiB were slower on ext4.
constexpr std::size_t file_call_bytes = 256 << 10;

// Smaller regular files are not worth dividing among lanes. Files whose st_size is not their size (4096 in
// sysfs) are all smaller.
constexpr std::uint64_t min_parallel_size = 64 << 10;

// Smaller files are not worth opening again for direct reads, and smaller direct reads are slower than the
// kernel's readahead.
constexpr std::uint64_t min_direct_size = 256 << 10;

// How many places in a file are tested to decide whether most of it is in the page cache.
constexpr int samples = 16;

void grow_pipe(int fd) {
  const int bytes = fcntl(fd, F_GETPIPE_SZ);
  if (bytes >= 0 && bytes < pipe_bytes) fcntl(fd, F_SETPIPE_SZ, pipe_bytes);
}

bool is_file(const struct stat& status) {
  return S_ISREG(status.st_mode) || S_ISBLK(status.st_mode);
}

// Network file systems hide latency by reading ahead, which direct reads do not do. Their st_dev
// has the major number 0, as on Btrfs, ZFS and overlayfs.
bool is_on_disk(const struct stat& status) {
  return S_ISBLK(status.st_mode) || major(status.st_dev) != 0;
}

// Waits until `fd` is ready for `events`, at most `patience` milliseconds, or forever if negative. Returns
// whether it became ready.
bool wait_for(int fd, short events, int patience, Cancel& cancel) {
  struct pollfd entry {
    fd, events, 0
  };
  for (;;) {
    int count, error;
    {
      Cancel::Blocking blocking(cancel);
      count = poll(&entry, 1, patience);
      error = errno;
    }
    if (count >= 0 || error != EINTR) return count != 0;
  }
}

// Repeats a read or write while it is interrupted or `fd` is not ready. Descriptors may be inherited
// non-blocking; their flags are shared with other processes and must not be changed.
template <class Call>
ssize_t transfer(int fd, short events, Cancel& cancel, Call call) {
  for (;;) {
    ssize_t count;
    int error;
    {
      Cancel::Blocking blocking(cancel);
      count = call();
      error = errno;
    }
    if (count >= 0) return count;
    if (error == EAGAIN)
      wait_for(fd, events, -1, cancel);
    else if (error != EINTR)
      return errno = error, count;
  }
}

}  // namespace

FdSource::FdSource(Fd fd, std::string name, Cancel& cancel)
    : fd_(std::move(fd)), name_(std::move(name)), cancel_(cancel) {
  const int flags = fcntl(fd_.get(), F_GETFL);
  if (flags < 0 || fstat(fd_.get(), &status_) != 0) throw io_error("cannot read", name_, errno);
  if ((flags & O_ACCMODE) == O_WRONLY) throw io_error("cannot read", name_, EBADF);
  if (S_ISDIR(status_.st_mode)) throw io_error("cannot read", name_, EISDIR);
  grow_pipe(fd_.get());
  if (!is_file(status_)) return;
  const off_t begin = lseek(fd_.get(), 0, SEEK_CUR);
  const off_t end = S_ISREG(status_.st_mode) ? status_.st_size : lseek(fd_.get(), 0, SEEK_END);
  if (begin < 0 || end < 0 || lseek(fd_.get(), begin, SEEK_SET) < 0)
    throw io_error("cannot seek in", name_, errno);
  begin_ = opened_at_ = static_cast<std::uint64_t>(begin);
  size_ = static_cast<std::uint64_t>(std::max(end - begin, off_t{0}));
  std::byte first;
  sized_ = size_ > 0 || pread(fd_.get(), &first, 1, begin) <= 0;
}

void FdSource::begin_here() {
  if (size_ == 0) return;
  const off_t at = lseek(fd_.get(), 0, SEEK_CUR);
  if (at < 0) throw io_error("cannot seek in", name_, errno);
  const std::uint64_t passed = static_cast<std::uint64_t>(at) - begin_;
  begin_ += passed;
  size_ -= std::min(passed, size_);
}

std::size_t FdSource::read(std::span<std::byte> out) {
  const std::size_t wanted = std::min(out.size(), call_bytes);
  const ssize_t count =
      transfer(fd_.get(), POLLIN, cancel_, [&] { return ::read(fd_.get(), out.data(), wanted); });
  if (count < 0) throw failure_at(read_);
  if (count == 0) {
    check_not_shrunk();
    if (check_end_) check_end_();
  }
  read_ += static_cast<std::size_t>(count);
  return static_cast<std::size_t>(count);
}

// At the end of the input: throws if the file has been truncated since it was opened. A file in sysfs also
// ends before its st_size, but its st_size does not change.
void FdSource::check_not_shrunk() const {
  if (size_ == 0) return;
  struct stat now {};
  const auto at = static_cast<std::uint64_t>(lseek(fd_.get(), 0, SEEK_CUR));
  const bool reached_end = at >= begin_ + size_;
  if (reached_end || (fstat(fd_.get(), &now) == 0 && now.st_size >= status_.st_size)) return;
  throw shrunk_to(at);
}

std::string FdSource::modification() const {
  struct stat now {};
  const struct stat& before = status_;
  if (!S_ISREG(before.st_mode) || before.st_size == 0 || fstat(fd_.get(), &now) != 0) return "";
  if (now.st_size > before.st_size)
    return fmt::format(
        "{} grew from {} to {} bytes while it was being read; the output contains it up to byte {}, and may "
        "combine old and new data",
        name_, before.st_size, now.st_size, opened_at_ + read_);
  if (now.st_size == before.st_size && is_same_time(now.st_mtim, before.st_mtim)) return "";
  return fmt::format("{} was modified while it was being read; the output may combine old and new data",
                     name_);
}

bool FdSource::is_unchanged() const {
  struct stat now {};
  return S_ISREG(status_.st_mode) && fstat(fd_.get(), &now) == 0 && now.st_size == status_.st_size &&
         is_same_time(now.st_mtim, status_.st_mtim) && is_same_time(now.st_ctim, status_.st_ctim);
}

bool FdSource::ready(std::chrono::milliseconds patience) {
  return wait_for(fd_.get(), POLLIN, static_cast<int>(patience.count()), cancel_);
}

std::uint64_t FdSource::parallel_size() const {
  return S_ISBLK(status_.st_mode) || size_ > min_parallel_size ? size_ : 0;
}

bool FdSource::prepare_parallel() {
  if (size_ >= min_direct_size && is_on_disk(status_)) direct_ = DirectReader::open(fd_, begin_ + size_);
  if (!direct_) return false;
  int uncached = 0;
  for (int i = 0; i < samples; ++i) uncached += !direct_->is_cached(begin_ + size_ / samples * i, 1);
  return uncached > samples / 2;
}

std::size_t FdSource::place_in_page(std::uint64_t offset) const {
  return direct_ ? (begin_ + offset) % DirectReader::block_bytes : 0;
}

void FdSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const bool direct = direct_ && out.size() >= min_direct_size;
  std::size_t done = direct ? direct_->read(begin_ + offset, out, cancel_) : 0;
  while (done < out.size()) {
    const auto at = static_cast<off_t>(begin_ + offset + done);
    const std::size_t wanted = std::min(out.size() - done, call_bytes);
    const ssize_t count =
        transfer(fd_.get(), POLLIN, cancel_, [&] { return pread(fd_.get(), out.data() + done, wanted, at); });
    if (count < 0) throw failure_at(static_cast<std::uint64_t>(at) - opened_at_);
    if (count == 0) throw shrunk_to(static_cast<std::uint64_t>(at));
    done += static_cast<std::size_t>(count);
  }
}

// The error for the current errno. `at` counts from the beginning of the input.
IoError FdSource::failure_at(std::uint64_t at) const {
  return IoError(fmt::format("cannot read {} at byte {}: {}", name_, at, strerror(errno)));
}

IoError FdSource::shrunk_to(std::uint64_t size) const {
  return IoError(
      fmt::format("{} shrank while it was being read, from {} to {} bytes", name_, begin_ + size_, size));
}

void FdSource::skip_to(std::uint64_t offset) {
  if (lseek(fd_.get(), static_cast<off_t>(begin_ + offset), SEEK_SET) < 0)
    throw io_error("cannot seek in", name_, errno);
  read_ = begin_ + offset - opened_at_;
}

FdSink::FdSink(Fd fd, std::string name, Cancel& cancel)
    : name_(std::move(name)), cancel_(cancel), fd_(std::move(fd)) {
  const int flags = fcntl(fd_.get(), F_GETFL);
  if (flags < 0) throw io_error("cannot write", name_, errno);
  if ((flags & O_ACCMODE) == O_RDONLY) throw io_error("cannot write", name_, EBADF);
  struct stat status {};
  const bool file = fstat(fd_.get(), &status) == 0 && is_file(status);
  max_ = file ? file_call_bytes : call_bytes;
  grow_pipe(fd_.get());
}

void FdSink::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t wanted = std::min(bytes.size(), max_);
    check_();
    const ssize_t count =
        transfer(fd_.get(), POLLOUT, cancel_, [&] { return ::write(fd_.get(), bytes.data(), wanted); });
    if (count < 0) throw_failure(errno);
    written_ += static_cast<std::size_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void FdSink::check_calls(std::function<void()> check) {
  check_ = std::move(check);
  max_ = call_bytes;
}

bool FdSink::ready(std::chrono::milliseconds patience) {
  return wait_for(fd_.get(), POLLOUT, static_cast<int>(patience.count()), cancel_);
}

void FdSink::overwrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto at = static_cast<off_t>(offset);
    const ssize_t count = transfer(fd_.get(), POLLOUT, cancel_,
                                   [&] { return pwrite(fd_.get(), bytes.data(), bytes.size(), at); });
    if (count < 0) throw_failure(errno);
    offset += static_cast<std::size_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void FdSink::throw_failure(int error) const {
  const std::string message =
      fmt::format("cannot write {} after byte {}: {}", name_, written_, strerror(error));
  if (error == EPIPE) throw PipeClosed(message);
  throw IoError(message, hint_for(error));
}

void FdSink::finish() {
  if (fd_.close() != 0 && errno != EINTR) throw io_error("cannot write", name_, errno);
}

// Closing a duplicate also reports failed writes.
std::unique_ptr<FdSink> open_standard_sink(int fd, Cancel& cancel) {
  const char* const name = fd == STDOUT_FILENO ? standard_output_name : standard_error_name;
  Fd duplicate(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (duplicate.get() < 0) throw io_error("cannot write", name, duplicate.error());
  return std::make_unique<FdSink>(std::move(duplicate), name, cancel);
}

void print(std::span<const std::byte> bytes, Cancel& cancel, int fd) {
  const std::unique_ptr<FdSink> sink = open_standard_sink(fd, cancel);
  sink->write(bytes);
  sink->finish();
}

void print(const std::string& text, Cancel& cancel, int fd) {
  print(std::as_bytes(std::span(text)), cancel, fd);
}

void print(const std::string& text) {
  Cancel cancel;
  print(text, cancel);
}

void copy_rest(Source& source, Sink& sink, std::atomic<std::uint64_t>& copied) {
  constexpr std::size_t page_bytes = Sink::page_bytes;
  constexpr std::size_t buffer_bytes = 4 << 20;
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes + page_bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
  const auto buffer_at = [&](std::size_t place) {
    return std::span(memory.get() + (place - address) % page_bytes, buffer_bytes);
  };
  // Data that is not cached is read directly from the disk.
  const std::uint64_t uncached = source.prepare_parallel() ? source.parallel_size() : 0;
  for (std::uint64_t at = 0; at < uncached;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_bytes, uncached - at));
    const auto buffer = buffer_at(source.place_in_page(at)).first(count);
    source.read_at(at, buffer);
    sink.write(buffer);
    copied += count;
    at += count;
  }
  if (uncached > 0) source.skip_to(uncached);
  for (;;) {
    const auto buffer = buffer_at(sink.place_in_page().value_or(0));
    const std::size_t count = source.read(buffer);
    if (count == 0) return;
    sink.write(buffer.first(count));
    copied += count;
  }
}

FdSource open_file_source(const std::string& name, Cancel& cancel) {
  return FdSource(open_file(name, O_RDONLY | O_NOCTTY, cancel), name, cancel);
}

FdSource open_standard_source(Cancel& cancel) {
  Fd fd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  if (fd.get() < 0) throw io_error("cannot open", standard_input_name, fd.error());
  return FdSource(std::move(fd), standard_input_name, cancel);
}

}  // namespace gpuaes
