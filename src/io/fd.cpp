#include "io/fd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/texts.hpp"

namespace gpuaes {

Fd::Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Fd::~Fd() {
  close();
}

void Fd::reset(int fd) noexcept {
  close();
  fd_ = fd;
}

int Fd::close() noexcept {
  const int fd = std::exchange(fd_, -1);
  return fd < 0 ? 0 : ::close(fd);
}

const char* hint_for(int error) {
  if (error == ENOSPC || error == EDQUOT) return text::no_room_hint;
  if (error == EEXIST) return text::exists_hint;
  return error == EFBIG ? text::too_large_hint : "";
}

IoError io_error(Failure what, const std::string& name, int error) {
  return IoError(fmt::format(what, name, std::string(strerror(error))), hint_for(error));
}

Fd open_file(const std::string& name, int flags, Cancel& cancel, mode_t mode) {
  for (;;) {
    Cancel::Blocking blocking(cancel);
    Fd fd(open(name.c_str(), flags | O_CLOEXEC, mode));
    if (fd.get() >= 0) return fd;
    if (errno != EINTR) throw io_error(text::cannot_open, name, errno);
  }
}

void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace gpuaes
