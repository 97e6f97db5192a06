#include "io/fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

namespace gpuaes {

Fd& Fd::operator=(Fd&& other) noexcept {
  close();
  fd_ = std::exchange(other.fd_, -1);
  error_ = other.error_;
  return *this;
}

int Fd::close() noexcept {
  const int fd = std::exchange(fd_, -1);
  return fd < 0 ? 0 : ::close(fd);
}

std::string path_of_descriptor(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

std::vector<std::string> names_in(Fd directory, int* error) {
  std::vector<std::string> names;
  int failure = directory.error();
  if (const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(directory.get()), closedir); stream) {
    directory.release();
    for (;;) {
      errno = 0;
      const dirent* const entry = readdir(stream.get());
      failure = errno;
      if (entry == nullptr) break;
      names.emplace_back(entry->d_name);
    }
  } else if (failure == 0) {
    failure = errno;
  }
  if (error != nullptr) *error = failure;
  return names;
}

// Sets both times, because FUSE file systems with libfuse 2 ignore UTIME_OMIT and then set none.
bool set_modification_time(int fd, const timespec& time) {
  struct stat now {};
  if (fstat(fd, &now) != 0) return false;
  const timespec times[] = {now.st_atim, time};
  return futimens(fd, times) == 0;
}

bool set_size(int fd, std::uint64_t size) {
  int result = 0;
  do result = ftruncate(fd, static_cast<off_t>(size));
  while (result != 0 && errno == EINTR);
  return result == 0;
}

bool sync_to_disk(int fd) {
  return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}

Hint hint_for(int error) {
  if (error == EMFILE) return Advice::raise_file_limit;
  if (error == ENOMEM) return Advice::raise_memory_limit;
  if (error == ENOSPC || error == EDQUOT) return "free some space, or write to another file system";
  if (error == EEXIST) return "existing files are never overwritten; choose another name";
  return error == EFBIG ? "the file system or ulimit does not allow larger files" : "";
}

IoError io_error(std::string_view failure, const std::string& name, int error) {
  return IoError(fmt::format("{} {}: {}", failure, name.empty() ? "''" : name, strerror(error)),
                 hint_for(error));
}

FileExists file_exists(const std::string& name) {
  const IoError error = io_error("cannot open", name, EEXIST);
  return FileExists(error.what(), error.hint());
}

IoError missing_resource(const std::error_code& code) {
  return IoError(fmt::format("cannot create a thread or another system resource: {}", code.message()),
                 code.value() == EAGAIN ? Advice::raise_thread_limit : hint_for(code.value()));
}

Fd open_file(const std::string& name, int flags, Cancel& cancel, mode_t mode) {
  constexpr std::chrono::milliseconds pause(20);
  constexpr int max_pauses = 60'000 / pause.count();  // longer than the system waits for the end of a lease
  for (int pauses = 0;;) {
    Cancel::Blocking blocking(cancel);
    Fd fd(open(name.c_str(), flags | O_CLOEXEC, mode));
    if (fd.get() >= 0) return fd;
    const bool is_leased =
        fd.error() == EAGAIN && (flags & O_NONBLOCK) != 0;  // by a file server, for example
    if (is_leased && pauses++ < max_pauses)
      std::this_thread::sleep_for(pause);
    else if (fd.error() != EINTR)
      throw io_error("cannot open", name, fd.error());
  }
}

void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
      open("/", O_PATH);  // in a chroot without devices
}

}  // namespace gpuaes
