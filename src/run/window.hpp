// A part of an input, and a part of an output, in the place of the whole.
#pragma once

#include <cstdint>

#include "io/source_sink.hpp"

namespace gpuaes {

// So many bytes of another source from `begin` on. All of them are there: of a file or a block device, which
// is left standing behind what was read. IoError where they turn out not to be.
class WindowSource : public Source {
 public:
  WindowSource(Source& whole, std::uint64_t begin, std::uint64_t size);

  std::size_t read(std::span<std::byte> out) override;
  bool ready(std::chrono::milliseconds patience) override;
  std::uint64_t shared_size() const override;
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  void skip_to(std::uint64_t offset) override;

 private:
  Source& whole_;
  std::uint64_t begin_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

// Of what is written the first `skipped` bytes are left out, `size` go to the other sink, and the rest is
// left out again.
class WindowSink : public Sink {
 public:
  WindowSink(Sink& inner, std::uint64_t skipped, std::uint64_t size);

  void write(std::span<const std::byte> bytes) override;
  void finish() override { inner_.finish(); }

  std::uint64_t passed() const noexcept { return passed_; }  // bytes that went to the other sink

 private:
  Sink& inner_;
  std::uint64_t to_skip_;
  std::uint64_t to_pass_;
  std::uint64_t passed_ = 0;
};

}  // namespace gpuaes
