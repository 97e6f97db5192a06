// File descriptors, and errors of the calls that use them.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "io/cancel.hpp"

namespace gpuaes {

// Owns a descriptor.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept;
  ~Fd();
  int get() const noexcept { return fd_; }
  void reset(int fd) noexcept;  // closes the current descriptor and owns `fd` instead
  int close() noexcept;  // the result of close(2), which is where some file systems first tell of a failed
                         // write

 private:
  int fd_;
};

// The error of a call that failed with `error` (an errno). `failure` is the beginning of the message, such as
// "cannot open". Has a hint if there is no space.
IoError io_error(std::string_view failure, const std::string& name, int error);

// What to do about a write that failed with `error`; empty where there is nothing to say.
const char* hint_for(int error);

// open(2) with O_CLOEXEC. Opening a FIFO waits for its other end: a request to stop ends that. `mode` is for
// a new file. IoError.
Fd open_file(const std::string& name, int flags, Cancel& cancel, mode_t mode = 0666);

// Puts /dev/null, opened the wrong way round, where descriptor 0, 1 or 2 is closed: what is opened later
// cannot land there, and using it as input or output still fails with EBADF.
void occupy_standard_descriptors();

}  // namespace gpuaes
