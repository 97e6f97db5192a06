// Plaintext on its way to a terminal: text is shown, and what else there is would be taken for orders.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/text.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// Finds what is no text, piece by piece: characters may lie across pieces. Text is UTF-8
// without control characters but backspace, tab, line feed, form feed and
// carriage return. Escape is one: a terminal may be told with it to do things and to answer.
class TextCheck {
 public:
  // Whether all of it is text, or may become so with what comes next.
  bool is_text(std::span<const std::byte> bytes);

 private:
  bool take(unsigned char byte);

  Utf8Check utf8_;
  unsigned char before_ = 0;  // the last byte taken
};

inline constexpr char to_terminal_hint[] = "redirect the output, name a file with -o, or use --force";

// Hands on to `sink` what is text. UsageError for what is not, before any of that write() is handed on.
class TextSink : public Sink {
 public:
  explicit TextSink(std::unique_ptr<Sink> sink) : sink_(std::move(sink)) {}

  void expect(std::uint64_t size) override { sink_->expect(size); }
  void write(std::span<const std::byte> bytes) override;
  void finish() override { sink_->finish(); }

 private:
  std::unique_ptr<Sink> sink_;
  TextCheck check_;
};

}  // namespace gpuaes
