// Sources and sinks on file descriptors: pipes, files, devices, sockets.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io/direct_reader.hpp"
#include "io/fd.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

class FdSource : public Source {
 public:
  // `name` is for messages. IoError if the descriptor cannot be read: a directory, or one open only for
  // writing.
  FdSource(Fd fd, std::string name, Cancel& cancel);

  std::size_t read(std::span<std::byte> out) override;
  bool ready(std::chrono::milliseconds patience) override;
  std::uint64_t parallel_size() const override;
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  bool prepare_parallel() override;
  std::size_t place_in_page(std::uint64_t offset) const override;
  void skip_to(std::uint64_t offset) override;

  // The size of a regular file or block device when it was opened, in bytes, not counting those before
  // begin_here(). None for anything else, and for files in /proc, whose st_size is 0.
  std::optional<std::uint64_t> size() const { return sized_ ? std::optional(size_) : std::nullopt; }

  // Calls `check` when the input ends, before read() returns 0. It may throw.
  void at_end(std::function<void()> check) { check_end_ = std::move(check); }

  // Once the input has been read: a warning if a regular file has been modified since it was opened.
  // Otherwise empty, as for files in /proc. Misses changes that leave st_size and st_mtim as they are.
  std::string modification() const;

  // Whether a regular file is unchanged since it was opened, including its metadata (ctime).
  bool is_unchanged() const;

  // From now on, offsets and sizes count from the current position.
  void begin_here();

  const struct stat& status() const noexcept { return status_; }
  int descriptor() const noexcept { return fd_.get(); }
  const std::string& name() const noexcept { return name_; }
  bool is_terminal() const override { return isatty(fd_.get()) != 0; }

 private:
  void check_not_shrunk() const;
  IoError failure_at(std::uint64_t at) const;
  IoError shrunk_to(std::uint64_t size) const;  // bytes

  Fd fd_;
  std::string name_;
  Cancel& cancel_;
  struct stat status_ {};
  std::function<void()> check_end_;
  std::unique_ptr<DirectReader> direct_;  // or null
  std::uint64_t opened_at_ = 0;           // initial position of the descriptor
  std::uint64_t read_ = 0;                // position of read(), counted from opened_at_
  std::uint64_t begin_ = 0;               // position of offset 0
  std::uint64_t size_ = 0;  // bytes from begin_ to the end; 0 unless a regular file or a block device
  bool sized_ = false;      // whether size_ is known; it is not for files in /proc
};

class FdSink : public Sink {
 public:
  // IoError if the descriptor cannot be written. SIGPIPE must be ignored.
  FdSink(Fd fd, std::string name, Cancel& cancel);

  void write(std::span<const std::byte> bytes) override;
  void overwrite(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void finish() override;

  // From now on, calls `check` before each system call that writes, and writes more bytes with each. What
  // `check` throws ends the write.
  void check_calls(std::function<void()> check);

  // Waits until some bytes can be written, or writing would fail. False if that takes longer than `patience`.
  bool ready(std::chrono::milliseconds patience);

  const Fd& fd() const noexcept { return fd_; }

 protected:
  // `error` is the errno value of a call that has failed.
  [[noreturn]] void throw_failure(int error) const;

  const std::string name_;
  Cancel& cancel_;
  std::uint64_t written_ = 0;  // bytes
  std::function<void()> check_ = [] {};

 private:
  Fd fd_;
  std::size_t max_;  // bytes per call
};

// Copies the rest of the source, and adds the bytes to `copied`.
void copy_rest(Source& source, Sink& sink, std::atomic<std::uint64_t>& copied);

// The names of the standard streams in messages.
inline constexpr char standard_input_name[] = "standard input";
inline constexpr char standard_output_name[] = "standard output";
inline constexpr char standard_error_name[] = "standard error";

// Writes to standard output or standard error, whose descriptor stays open after finish().
std::unique_ptr<FdSink> open_standard_sink(int fd, Cancel& cancel);

// Writes all of it there. IoError, Cancelled.
void print(std::span<const std::byte> bytes, Cancel& cancel, int fd = STDOUT_FILENO);
void print(const std::string& text, Cancel& cancel, int fd = STDOUT_FILENO);
void print(const std::string& text);  // while there is no other Cancel

FdSource open_file_source(const std::string& name, Cancel& cancel);

// Descriptor 0 remains open, so no other file gets its number.
FdSource open_standard_source(Cancel& cancel);

}  // namespace gpuaes
