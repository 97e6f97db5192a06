#include "io/file_sink.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

namespace gpuaes {
namespace {

// Errors of direct writes that need not be those of writes through the page cache.
bool is_refusal(int error) {
  return error == EINVAL || error == EOPNOTSUPP || error == ENOMEM || error == EAGAIN;
}

}  // namespace

FileSink::FileSink(Fd fd, std::string name, Cancel& cancel, std::uint64_t offset)
    : FdSink(std::move(fd), std::move(name), cancel), offset_(offset) {
  if (offset > 0 && lseek(this->fd().get(), static_cast<off_t>(offset), SEEK_SET) < 0)
    throw io_error("cannot seek in", name_, errno);
}

std::uint64_t FileSink::size() const noexcept {
  return written_ + (direct_ ? direct_->held_back().size() : 0);
}

std::optional<std::size_t> FileSink::place_in_page() const {
  return direct_ ? std::optional((offset_ + size()) % page_bytes) : std::nullopt;
}

void FileSink::write(std::span<const std::byte> bytes) {
  while (direct_ && !bytes.empty()) {
    check_();
    const ssize_t count = direct_->write(bytes, cancel_);
    if (count < 0 && !is_refusal(errno)) throw_failure(errno);
    if (count < 0) end_direct();
    written_ += static_cast<std::size_t>(std::max(count, ssize_t{0}));
  }
  FdSink::write(bytes);
}

void FileSink::end_direct() {
  if (const std::unique_ptr<DirectWriter> ended = std::exchange(direct_, nullptr)) {
    ended->stop();
    FdSink::write(ended->held_back());
  }
}

void FileSink::overwrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  end_direct();
  FdSink::overwrite(offset, bytes);
}

void FileSink::skip(std::uint64_t size) {
  if (lseek(fd().get(), static_cast<off_t>(size), SEEK_CUR) < 0) throw_failure(errno);
  written_ += size;
}

int FileSink::reserve(std::uint64_t offset, std::uint64_t size) const {
  return error_of(
      fallocate(fd().get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(size)));
}

std::uint64_t FileSink::free_bytes() const {
  struct statvfs space {};
  return fstatvfs(fd().get(), &space) == 0 ? std::uint64_t{space.f_bavail} * space.f_frsize : 0;
}

void FileSink::sync() {
  end_direct();
  while (!sync_to_disk(fd().get())) {
    if (errno != EINTR) throw io_error("cannot write", name_, errno);
    cancel_.check();
  }
}

void FileSink::finish() {
  end_direct();
  FdSink::finish();
}

void copy_file(Fd from, Fd to, const std::string& name, Cancel& cancel,
               const std::function<void(int fd)>& complete) {
  FdSource source(std::move(from), name, cancel);
  FileSink sink(std::move(to), name, cancel);
  std::atomic<std::uint64_t> copied = 0;
  copy_rest(source, sink, copied);
  complete(sink.fd().get());
  sink.sync();
  sink.finish();
}

}  // namespace gpuaes
