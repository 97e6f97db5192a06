#include "io/armor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/libcrypto.hpp"
#include "base/text.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t line_chars = 64;
constexpr std::size_t line_bytes = line_chars / 4 * 3;

// Limits the bytes that are encoded at once, and the text that is read at once.
constexpr std::size_t encode_bytes = 1024 * line_bytes;
constexpr std::size_t read_chars = 64 << 10;

// The size of the Base64 of `size` bytes, in lines with their newlines.
constexpr std::uint64_t encoded_size(std::uint64_t size) {
  return (size + 2) / 3 * 4 + (size + line_bytes - 1) / line_bytes;
}

class ArmorSink : public SinkWrapper {
 public:
  ArmorSink(std::string_view label, std::unique_ptr<Sink> text)
      : SinkWrapper(std::move(text)),
        begin_line_(armor_begin(label) + "\n"),
        end_line_(armor_end(label) + "\n"),
        encoder_(EVP_ENCODE_CTX_new()) {
    if (!encoder_) throw std::bad_alloc();
    EVP_EncodeInit(encoder_.get());
  }

  void expect(std::uint64_t size) override {
    inner_.expect(begin_line_.size() + encoded_size(size) + end_line_.size());
  }

  // These concern the bytes that are passed on, which are others.
  bool limited_by_disk() const override { return false; }
  std::optional<std::size_t> place_in_page() const override { return {}; }

  void write(std::span<const std::byte> bytes) override {
    begin();
    std::vector<std::byte> text(encoded_size(encode_bytes + line_bytes) + 1);  // with bytes kept, and a NUL
    while (!bytes.empty()) {
      const std::span<const std::byte> part = bytes.first(std::min(bytes.size(), encode_bytes));
      int size = 0;
      check_call(EVP_EncodeUpdate(encoder_.get(), octets(text.data()), &size, octets(part.data()),
                                  static_cast<int>(part.size())) == 1,
                 "EVP_EncodeUpdate");
      inner_.write(std::span(text).first(static_cast<std::size_t>(size)));
      bytes = bytes.subspan(part.size());
    }
  }

  void finish() override {
    begin();
    std::array<std::byte, line_chars + 2> text{};  // with a newline and a NUL
    int size = 0;
    EVP_EncodeFinal(encoder_.get(), octets(text.data()), &size);
    inner_.write(std::span(text).first(static_cast<std::size_t>(size)));
    inner_.write(bytes_of(end_line_));
    inner_.finish();
  }

 private:
  void begin() {
    if (!std::exchange(begun_, true)) inner_.write(bytes_of(begin_line_));
  }

  std::string begin_line_, end_line_;
  std::unique_ptr<EVP_ENCODE_CTX, FreeWith<EVP_ENCODE_CTX_free>> encoder_;
  bool begun_ = false;
};

class ArmorSource : public Source {
 public:
  ArmorSource(std::string_view label, Source& text, std::span<const std::byte> begun)
      : begin_line_(armor_begin(label)),
        end_line_(armor_end(label)),
        source_(text),
        text_(reinterpret_cast<const char*>(begun.data()), begun.size()) {}

  std::size_t read(std::span<std::byte> out) override {
    while (unread_.empty() && !failure_ && !ended_) decode_more();
    if (unread_.empty() && failure_) throw AuthError(*failure_);
    return take_into(out, unread_);
  }

  bool ready(std::chrono::milliseconds patience) override {
    while (unread_.empty() && !failure_ && !ended_) {
      if (!source_.ready(patience)) return false;
      decode_more();
      patience = {};  // less than a line has arrived
    }
    return true;
  }

 private:
  enum class Part { before, data, after };

  void decode_more() {
    const std::size_t kept = text_.size();
    text_.resize(kept + read_chars);
    const std::size_t count = source_.read(std::as_writable_bytes(std::span(text_).subspan(kept)));
    text_.resize(kept + count);
    ended_ = count == 0;
    bytes_.clear();
    try {
      take_lines();
    } catch (const AuthError& error) {
      failure_ = error;
    }
    unread_ = bytes_;
  }

  // Takes all complete lines; at the end of the text, also one with the END line but without a newline.
  void take_lines() {
    std::string_view left = text_;
    const auto is_last = [&] {
      return ended_ && (part_ == Part::after || left.find(end_line_) != left.npos);
    };
    while (left.find('\n') != left.npos || (!left.empty() && is_last())) take(take_line(left));
    if (ended_ && part_ != Part::after) throw AuthError("the input is truncated: the armor has no END line");
    if (left.size() > max_armor_margin) take(left);  // too long
    text_.erase(0, text_.size() - left.size());
  }

  void take(std::string_view line) {
    ++line_;
    const std::string_view text = line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
    if (part_ == Part::data && text == end_line_)
      part_ = Part::after;
    else if (part_ == Part::data)
      decode(text);
    else if (part_ == Part::before && text == begin_line_)
      part_ = Part::data;
    else if (part_ == Part::before && trim_end(text).size() > begin_line_.size() &&
             text.starts_with(begin_line_))
      throw AuthError("the armor in the input has lost its line breaks",
                      "break it after the BEGIN line, after every 64 characters and before the END line");
    else if (!is_margin(line))
      throw part_ == Part::before
          ? AuthError(fmt::format("line {} of the input is not the BEGIN line of armor", line_))
          : AuthError(fmt::format("line {} of the input follows the END line of the armor", line_),
                      "remove everything around the armor; decrypt several armored files one at a time");
  }

  void decode(std::string_view line) {
    if (line.size() > line_chars)
      throw AuthError(fmt::format("line {} of the input has more than {} characters", line_, line_chars));
    const std::optional<std::vector<std::byte>> decoded = decode_base64(line, Padding::required);
    if (!decoded || line.empty())
      throw AuthError(fmt::format("line {} of the input is neither Base64 nor the END line of armor", line_));
    if (short_line_)
      throw AuthError(
          fmt::format("line {} of the input encodes fewer than {} bytes but is not the last line of the data",
                      line_ - 1, line_bytes));
    short_line_ = decoded->size() < line_bytes;
    append(bytes_, *decoded);
  }

  // Whether this is white space that may surround armor.
  bool is_margin(std::string_view line) {
    margin_ += line.size() + 1;
    return margin_ <= max_armor_margin && trim_end(line).empty();
  }

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

class PastedSource : public Source {
 public:
  explicit PastedSource(Source& terminal) : terminal_(terminal) {}

  std::size_t read(std::span<std::byte> out) override {
    if (!complete_) read_all();
    return take_into(out, unread_);
  }

  bool ready(std::chrono::milliseconds patience) override { return complete_ || terminal_.ready(patience); }

 private:
  void read_all() {
    constexpr std::string_view end_line = "-----END ";
    constexpr std::size_t max_line_bytes = 4096;  // the longest line that a terminal delivers
    for (std::size_t line = 0; !complete_; line = text_.size()) {
      text_.resize(line + max_line_bytes);
      text_.resize(line + terminal_.read(std::as_writable_bytes(std::span(text_).subspan(line))));
      complete_ = text_.size() == line || text_.find(end_line, line) != text_.npos;
    }
    unread_ = bytes_of(text_);
  }

  Source& terminal_;
  bool complete_ = false;
  std::string text_;
  std::span<const std::byte> unread_;
};

}  // namespace

std::uint64_t armored_size(std::string_view label, std::uint64_t size) {
  return armor_begin(label).size() + 1 + encoded_size(size) + armor_end(label).size() + 1;
}

std::string armor_begin(std::string_view label) {
  return fmt::format("-----BEGIN {}-----", label);
}

std::string armor_end(std::string_view label) {
  return fmt::format("-----END {}-----", label);
}

std::unique_ptr<Sink> make_armor_sink(std::string_view label, std::unique_ptr<Sink> text) {
  return std::make_unique<ArmorSink>(label, std::move(text));
}

std::unique_ptr<Source> make_pasted_source(Source& terminal) {
  return std::make_unique<PastedSource>(terminal);
}

std::unique_ptr<Source> make_armor_source(std::string_view label, Source& text,
                                          std::span<const std::byte> begun) {
  return std::make_unique<ArmorSource>(label, text, begun);
}

}  // namespace gpuaes
