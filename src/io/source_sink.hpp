// The input and output of the pipeline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "io/cancel.hpp"

namespace gpuaes {

// The input. read(), ready() and skip_to() are called by one thread at a time, read_at() by any number. Sizes
// and offsets are in bytes; offsets count from the position at which the source was opened. IoError if the
// input fails, AuthError if it is damaged armor, Cancelled if the program is told to stop.
class Source {
 public:
  virtual ~Source() = default;

  // Waits for input and reads at most out.size() bytes, which must be at least 1. Returns 0 only at the end
  // of the input.
  virtual std::size_t read(std::span<std::byte> out) = 0;

  // Waits up to `patience` for input. Returns whether read() would return immediately.
  virtual bool ready(std::chrono::milliseconds patience) = 0;

  virtual bool is_terminal() const { return false; }

  // The number of bytes, from the beginning, that several threads can read with read_at(); 0 if only read()
  // works.
  virtual std::uint64_t parallel_size() const { return 0; }

  // Reads exactly out.size() bytes at `offset`. IoError if the input no longer has them.
  virtual void read_at([[maybe_unused]] std::uint64_t offset,
                       [[maybe_unused]] std::span<std::byte> out) const {
    throw_sequential();
  }

  // From now on, read_at() reads data that is not in the page cache directly from the disk, if possible.
  // Returns whether most of the input is such data. Call this before threads use read_at().
  virtual bool prepare_parallel() { return false; }

  // Where in a page of 4096 bytes the memory for read_at() should begin. If it begins elsewhere, reading may
  // be slower.
  virtual std::size_t place_in_page([[maybe_unused]] std::uint64_t offset) const { return 0; }

  // The input is one message, or several, one after another. Returns the end of the message with the byte at
  // `offset`, or `offset` if the input ends there. Called for each message in turn: before read() reaches
  // `offset`, unless it is less than parallel_size(). The default means that read() shows where the only
  // message ends.
  virtual std::uint64_t message_end([[maybe_unused]] std::uint64_t offset) { return unknown_end; }
  static constexpr std::uint64_t unknown_end = std::numeric_limits<std::uint64_t>::max();

  // Makes read() continue at `offset`, which is at most parallel_size() or the size of a file or block
  // device.
  virtual void skip_to([[maybe_unused]] std::uint64_t offset) { throw_sequential(); }

 private:
  [[noreturn]] static void throw_sequential() {
    throw std::logic_error("this input can only be read from its beginning to its end");
  }
};

// The output. Used by one thread at a time.
class Sink {
 public:
  virtual ~Sink() = default;  // removes the output, if possible, unless publish() has returned

  // Announces the expected size of the output, in bytes. IoError if there is no space for it.
  virtual void expect([[maybe_unused]] std::uint64_t size) {}

  // Whether the output is known to be a large file that will be written directly to a disk.
  virtual bool limited_by_disk() const { return false; }

  // The offset within a page that the memory of the next byte should have, or nothing if it does not matter.
  // Writing is slower if it differs, or if the bytes that follow are not contiguous.
  static constexpr std::size_t page_bytes = 4096;
  virtual std::optional<std::size_t> place_in_page() const { return {}; }

  // Writes all of `bytes`, or throws IoError or Cancelled.
  virtual void write(std::span<const std::byte> bytes) = 0;

  // Replaces bytes that were written at `offset`. Only for a regular file that is not complete yet.
  virtual void overwrite([[maybe_unused]] std::uint64_t offset,
                         [[maybe_unused]] std::span<const std::byte> bytes) {
    throw std::logic_error("this output cannot be overwritten");
  }

  // Completes the output, but does not give it its name. IoError if the system reports only now that it lost
  // data.
  virtual void finish() = 0;

  // Calls `last_step`, which may throw, and then gives the complete output its name, if it has one. IoError.
  virtual void publish(const std::function<void()>& last_step) { last_step(); }

  void close() {
    finish();
    publish([] {});
  }
};

// Forwards to another source. A class derived from this changes some of it.
class SourceWrapper : public Source {
 public:
  explicit SourceWrapper(Source& inner) : inner_(inner) {}
  std::size_t read(std::span<std::byte> out) override { return inner_.read(out); }
  bool ready(std::chrono::milliseconds patience) override { return inner_.ready(patience); }
  bool is_terminal() const override { return inner_.is_terminal(); }
  std::uint64_t parallel_size() const override { return inner_.parallel_size(); }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override { inner_.read_at(offset, out); }
  bool prepare_parallel() override { return inner_.prepare_parallel(); }
  std::size_t place_in_page(std::uint64_t offset) const override { return inner_.place_in_page(offset); }
  std::uint64_t message_end(std::uint64_t offset) override { return inner_.message_end(offset); }
  void skip_to(std::uint64_t offset) override { inner_.skip_to(offset); }

 protected:
  Source& inner_;
};

// Forwards to another sink. A class derived from this changes some of it. Does not forward overwrite(), since
// offsets may differ.
class SinkWrapper : public Sink {
  std::unique_ptr<Sink> owned_;  // or null

 public:
  explicit SinkWrapper(Sink& inner) : inner_(inner) {}
  explicit SinkWrapper(std::unique_ptr<Sink> inner) : owned_(std::move(inner)), inner_(*owned_) {}
  void expect(std::uint64_t size) override { inner_.expect(size); }
  bool limited_by_disk() const override { return inner_.limited_by_disk(); }
  std::optional<std::size_t> place_in_page() const override { return inner_.place_in_page(); }
  void write(std::span<const std::byte> bytes) override { inner_.write(bytes); }
  void finish() override { inner_.finish(); }
  void publish(const std::function<void()>& last_step) override { inner_.publish(last_step); }

 protected:
  Sink& inner_;
};

// Discards the output. Throws Cancelled if the program is told to stop.
class NullSink : public Sink {
 public:
  explicit NullSink(const Cancel& cancel) : cancel_(cancel) {}
  void write(std::span<const std::byte>) override { cancel_.check(); }
  void finish() override {}

 private:
  const Cancel& cancel_;
};

}  // namespace gpuaes
