// Descriptors as sources and sinks: pipes, files, devices, sockets.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "io/fd.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

class FdSource : public Source {
 public:
  // `name` is for messages. IoError for what cannot be read: a directory, a descriptor open for writing only.
  FdSource(Fd fd, std::string name, Cancel& cancel);

  std::size_t read(std::span<std::byte> out) override;
  bool ready(std::chrono::milliseconds patience) override;
  std::uint64_t parallel_size() const override;
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  void skip_to(std::uint64_t offset) override;

  // Bytes from there to the end, at the time of opening: of regular files and block devices. None for files
  // of /proc, which say 0 whatever is in them.
  std::optional<std::uint64_t> size() const;

  // That many threads will use read_at() at once.
  void expect_readers(unsigned readers) { readers_ = readers; }

  // Offsets and sizes are counted from where it stands now: what was read so far is no longer part of it.
  void begin_here();

  const struct stat& status() const noexcept { return status_; }
  const std::string& name() const noexcept { return name_; }
  bool is_terminal() const;

 private:
  void check_not_shrunk() const;
  IoError failure_at(std::uint64_t at) const;
  IoError shrunk_to(std::uint64_t size) const;  // bytes

  Fd fd_;
  std::string name_;
  Cancel& cancel_;
  struct stat status_ {};
  unsigned readers_ = 1;
  std::uint64_t opened_at_ = 0;  // where the descriptor stood
  std::uint64_t read_ = 0;       // where read() goes on, counted from there
  std::uint64_t begin_ = 0;      // where offsets are counted from
  std::uint64_t size_ = 0;       // bytes from there to the end; 0 unless a regular file or a block device
  bool sized_ = false;           // whether size_ is the size: files of /proc say 0
};

class FdSink : public Sink {
 public:
  // IoError for what cannot be written. SIGPIPE must be ignored.
  FdSink(Fd fd, std::string name, Cancel& cancel);

  void write(std::span<const std::byte> bytes) override;
  void finish() override;

  // Waits until everything written is on disk. IoError, Cancelled.
  void sync();

  const Fd& fd() const noexcept { return fd_; }

 private:
  [[noreturn]] void throw_failure(int error) const;

  Fd fd_;
  std::string name_;
  Cancel& cancel_;
  std::size_t max_;            // bytes a call
  std::uint64_t written_ = 0;  // bytes
};

// What the command line calls standard input. A file of that name is "./-".
inline constexpr std::string_view standard_name = "-";

// What messages call the standard streams.
inline constexpr char standard_input_name[] = "standard input";
inline constexpr char standard_output_name[] = "standard output";
inline constexpr char standard_error_name[] = "standard error";

// The name of a source for messages.
std::string shown_name(const std::string& name);

// The file of that name, or standard input. Descriptor 0 stays open: no other file gets its number.
FdSource open_source(const std::string& name, Cancel& cancel);

}  // namespace gpuaes
