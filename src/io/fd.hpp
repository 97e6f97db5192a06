// File descriptors, and errors of calls that use them.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "io/cancel.hpp"

namespace gpuaes {

// Owns a descriptor. Constructed from the result of the call that opens it, so that nothing can change errno
// in between.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd), error_(fd < 0 ? errno : 0) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)), error_(other.error_) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { close(); }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }  // the caller owns the descriptor

  // The errno value of the failed call; 0 if it succeeded.
  int error() const noexcept { return error_; }

  // The result of close(2): some file systems report a failed write only here.
  int close() noexcept;

 private:
  int fd_;
  int error_;
};

// The errno value of a system call that has returned this; 0 if it succeeded.
inline int error_of(int result) {
  return result < 0 ? errno : 0;
}

// A path that the kernel resolves to an open file, for calls that do not take a descriptor, and for
// linkat(2), because AT_EMPTY_PATH requires a privilege on older kernels.
std::string path_of_descriptor(int fd);

// The names in an open directory. If it cannot be read, sets `error`, unless null, to the errno value; 0
// otherwise. Unlike std::filesystem::directory_iterator, throws std::bad_alloc if there is too little memory.
std::vector<std::string> names_in(Fd directory, int* error = nullptr);

// Whether both are the same file. An inode number is not reused while the file has a name or is open.
inline bool is_same_inode(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

inline bool is_same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// Leaves the time of access as it is. False with errno if that fails.
bool set_modification_time(int fd, const timespec& time);

// ftruncate(2), which a signal does not interrupt. False with errno if it fails.
bool set_size(int fd, std::uint64_t size);

// fsync(2). Succeeds on a file system that does not support it. False with errno if it fails; EINTR after a
// signal.
bool sync_to_disk(int fd);

// The error for a call that failed with the errno value `error`, with its hint. `failure` is the beginning of
// the message, such as "cannot open".
IoError io_error(std::string_view failure, const std::string& name, int error);

// The error for a file that must be new.
FileExists file_exists(const std::string& name);

// A hint for a call that failed with `error`, or "".
Hint hint_for(int error);

// The error of a thread, or of another system resource, that could not be created.
IoError missing_resource(const std::error_code& code);

// open(2) with O_CLOEXEC. Opening a FIFO waits for the other end, unless the program is told to stop. `mode`
// is for a new file. IoError, Cancelled.
Fd open_file(const std::string& name, int flags, Cancel& cancel, mode_t mode = 0666);

// Opens /dev/null for each closed descriptor from 0 to 2, so no file opened later becomes standard input or
// output. It is opened with the wrong access mode, so using it still fails with EBADF.
void occupy_standard_descriptors();

}  // namespace gpuaes
