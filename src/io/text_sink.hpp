// Keeps binary plaintext off a terminal, which would obey control sequences in it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/unicode.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// Passes text on to `sink`: UTF-8 without control characters except backspace, tab, newline, form feed and
// carriage return. Escape is not allowed because it begins terminal control sequences. UsageError if a piece
// is not text; none of that piece is passed on. A character may be split between pieces.
class TextSink : public Sink {
 public:
  explicit TextSink(std::unique_ptr<Sink> sink) : sink_(std::move(sink)) {}

  void expect(std::uint64_t size) override { sink_->expect(size); }
  void write(std::span<const std::byte> bytes) override;
  void finish() override { sink_->finish(); }
  void publish(const std::function<void()>& last_step) override { sink_->publish(last_step); }

 private:
  bool is_text(std::byte next);

  std::unique_ptr<Sink> sink_;
  Utf8Check utf8_;
  unsigned char before_ = 0;  // the last byte checked
};

}  // namespace gpuaes
