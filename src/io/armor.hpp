// Armor, the text form of a stream (RFC 7468, section 3, the strict form): Base64 between a BEGIN and an END
// line, which contain a label.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/libcrypto.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// The lines without their newlines.
std::string armor_begin(std::string_view label);
std::string armor_end(std::string_view label);

// The white space allowed before and after armor, in total, in bytes.
inline constexpr std::size_t max_armor_margin = 1024;

// Passes the armor of its input on to `text`.
class ArmorSink : public Sink {
 public:
  ArmorSink(std::string_view label, std::unique_ptr<Sink> text);

  void expect(std::uint64_t size) override;
  void write(std::span<const std::byte> bytes) override;
  void finish() override;
  void publish(const std::function<void()>& last_step) override { text_->publish(last_step); }

 private:
  void begin();
  std::string begin_line_, end_line_;
  std::unique_ptr<Sink> text_;
  std::unique_ptr<EVP_ENCODE_CTX, FreeWith<EVP_ENCODE_CTX_free>> encoder_;
  bool begun_ = false;
};

// What is typed or pasted at a terminal, up to the END line of armor. All of it is read first: a question for
// a passphrase would discard the rest, and the output would appear in the middle of it.
class PastedSource : public Source {
 public:
  explicit PastedSource(Source& terminal) : terminal_(terminal) {}  // which must outlive it

  std::size_t read(std::span<std::byte> out) override;
  bool ready(std::chrono::milliseconds patience) override;

 private:
  void read_all();

  Source& terminal_;
  bool complete_ = false;
  std::string text_;
  std::span<const std::byte> unread_;
};

// The bytes that armor encodes. AuthError, after the bytes before the error, if the text is anything but one
// armored stream in exactly the form that ArmorSink writes, except that lines may end with CR LF, the last
// line may end without a newline, and there may be white space around the armor.
class ArmorSource : public Source {
 public:
  // `begun` is the beginning of the text, already read from `text`, which must outlive the source.
  ArmorSource(std::string_view label, Source& text, std::span<const std::byte> begun);

  std::size_t read(std::span<std::byte> out) override;
  bool ready(std::chrono::milliseconds patience) override;

 private:
  enum class Part { before, data, after };

  void decode_more();
  void take_lines(bool at_end);
  void take(std::string_view line);
  void decode(std::string_view line);
  bool is_margin(std::string_view line);

  std::string begin_line_, end_line_;  // without newlines
  Source& source_;
  std::string text_;              // not yet decoded: less than a line, except while decoding
  std::vector<std::byte> bytes_;  // decoded last
  std::span<const std::byte> unread_;
  Part part_ = Part::before;
  bool short_line_ = false;  // whether the last line of data was shorter than the others
  std::uint64_t line_ = 0;   // number of the last line taken
  std::size_t margin_ = 0;   // bytes of white space outside of the armor
  bool ended_ = false;
  std::optional<AuthError> failure_;  // thrown once all bytes before it have been read
};

}  // namespace gpuaes
