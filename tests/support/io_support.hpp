// Support for tests of input and output: pipes and sockets, reading everything, child processes.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "io/output_file.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"

namespace gpuaes {

struct PipeEnds {
  Fd reader{-1}, writer{-1};
};

inline PipeEnds make_pipe(int flags = 0) {
  std::array<int, 2> fds{};
  REQUIRE(pipe2(fds.data(), O_CLOEXEC | flags) == 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

inline PipeEnds make_sockets() {
  std::array<int, 2> fds{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

inline void put(const Fd& fd, std::span<const std::byte> bytes) {
  REQUIRE(write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
}

// A second descriptor for the same open file description, like those that a program and its shell share. Any
// thread may call this.
inline Fd shared_with(const Fd& fd) {
  const int copy = fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw std::runtime_error("cannot duplicate a descriptor");
  return Fd(copy);
}

// Reads a source to its end, at most `max_read` bytes at a time.
inline Bytes read_all(Source& source, std::size_t max_read = 1 << 16) {
  Bytes all, piece(max_read);
  while (const std::size_t count = source.read(piece)) {
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return all;
}

inline Bytes read_part(const Source& source, std::uint64_t offset, std::size_t size) {
  Bytes bytes(size);
  source.read_at(offset, bytes);
  return bytes;
}

// Reads a descriptor until its other end is closed, with a pause before each read.
inline Bytes drain(const Fd& fd, std::chrono::milliseconds delay = {}) {
  Bytes all, piece(1 << 18);
  for (;;) {
    std::this_thread::sleep_for(delay);
    const ssize_t count = read(fd.get(), piece.data(), piece.size());
    if (count <= 0) return all;
    all.insert(all.end(), piece.begin(), piece.begin() + count);
  }
}

// Opens a file as input, positioned at `offset`.
inline FdSource file_source(const std::string& name, Cancel& cancel, off_t offset = 0) {
  Fd fd = open_file(name, O_RDONLY, cancel);
  REQUIRE(lseek(fd.get(), offset, SEEK_SET) == offset);
  return FdSource(std::move(fd), name, cancel);
}

// Ignores SIGPIPE while it exists, as the program does.
struct IgnorePipeSignal {
  IgnorePipeSignal() : old(signal(SIGPIPE, SIG_IGN)) {}
  ~IgnorePipeSignal() { signal(SIGPIPE, old); }
  sighandler_t old;
};

// Runs `body` in a child process. Returns its status from waitpid().
template <class Body>
int status_of_child(Body body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (...) {
    }
    _exit(status);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

template <class Body>
int exit_of_child(Body body) {
  const int status = status_of_child(std::move(body));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

inline mode_t mode_of(const std::string& name) {
  struct stat status {};
  REQUIRE(stat(name.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

inline std::unique_ptr<Sink> open_output(const std::string& name, Cancel& cancel) {
  return open_sink(find_output(name), {}, cancel);
}

}  // namespace gpuaes
