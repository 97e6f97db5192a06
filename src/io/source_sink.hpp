// The two ends of the filter, as the pipeline sees them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/cancel.hpp"

namespace gpuaes {

// Where the input comes from. read(), ready() and skip_to() are called by one thread at a time; read_at()
// by any number.
// All sizes and offsets are bytes, offsets counted from where the source stood when it was opened.
// IoError when the input fails, Cancelled when the program is told to stop.
class Source {
 public:
  virtual ~Source() = default;

  // Waits for input and reads what is there, at most out.size() bytes (at least 1 is asked for). 0 only at
  // the end of the input, never for an error.
  virtual std::size_t read(std::span<std::byte> out) = 0;

  // Whether read() would return at once, looked at for up to `patience`.
  virtual bool ready(std::chrono::milliseconds patience) = 0;

  // How many bytes, from the first on, several threads may read at once with read_at(); 0 where only read()
  // works.
  virtual std::uint64_t parallel_size() const = 0;

  // Reads exactly out.size() bytes at `offset`. IoError when they are no longer there.
  virtual void read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;

  // read() goes on at `offset`, at most parallel_size(), or the size of a file or a block device.
  virtual void skip_to(std::uint64_t offset) = 0;
};

// Where the output goes. One thread at a time uses it.
class Sink {
 public:
  virtual ~Sink() = default;  // an output that was not finished is taken back where that is possible

  // So many bytes are going to be written, if all goes well. IoError where there is no room for them.
  virtual void expect([[maybe_unused]] std::uint64_t size) {}

  // Writes all of `bytes`, or throws IoError or Cancelled.
  virtual void write(std::span<const std::byte> bytes) = 0;

  // All has been written and is good. IoError when the system says only now that it did not keep the bytes.
  virtual void finish() = 0;
};

// Takes everything and keeps nothing, until the program is told to stop.
class NullSink : public Sink {
 public:
  explicit NullSink(const Cancel& cancel) : cancel_(cancel) {}
  void write(std::span<const std::byte>) override { cancel_.check(); }
  void finish() override {}

 private:
  const Cancel& cancel_;
};

}  // namespace gpuaes
