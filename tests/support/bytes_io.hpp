// A source and a sink in memory, for a single thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "base/error.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// Gives at most `step` bytes per read. Ends the program if more is read by read_at() than there is.
class BytesSource : public Source {
 public:
  BytesSource(std::span<const std::byte> bytes, std::size_t step) : bytes_(bytes), step_(step) {}

  std::size_t read(std::span<std::byte> out) override {
    const std::size_t count = std::min({step_, out.size(), bytes_.size() - at_});
    std::ranges::copy(bytes_.subspan(at_, count), out.begin());
    at_ += count;
    return count;
  }
  bool ready(std::chrono::milliseconds) override { return true; }
  std::uint64_t parallel_size() const override { return bytes_.size(); }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) std::abort();
    std::ranges::copy(bytes_.subspan(offset, out.size()), out.begin());
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t step_;
  std::size_t at_ = 0;
};

// What a sink got, which outlives it.
struct Written {
  std::string text;
  std::uint64_t expected = 0;
  std::size_t room = std::string::npos;  // bytes that the sink takes before it fails
  bool finished = false;
};

class TextSink : public Sink {
 public:
  explicit TextSink(Written& to) : to_(to) {}

  void expect(std::uint64_t size) override { to_.expected = size; }
  void write(std::span<const std::byte> bytes) override {
    if (to_.text.size() + bytes.size() > to_.room) throw IoError("the sink is full");
    to_.text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void finish() override { to_.finished = true; }

 private:
  Written& to_;
};

}  // namespace gpuaes
