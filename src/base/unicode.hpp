// Text that may come from anywhere: file names, plugins, headers. It may not be UTF-8, and may contain
// characters that control a terminal or mislead a reader.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace gpuaes {

// Checks for UTF-8 as defined by RFC 3629: shortest form, no surrogates, nothing above U+10FFFF. Takes one
// byte at a time, so a character may be split between two pieces of text.
class Utf8Check {
 public:
  // Whether this byte may follow the bytes before it, which must have been valid. See table 3-7 of the
  // Unicode Standard.
  bool take(unsigned char byte) {
    if (left_ > 0) {
      const bool fits = byte >= min_ && byte <= max_;
      --left_;
      min_ = 0x80, max_ = 0xbf;
      return fits;
    }
    if (byte < 0x80) return true;
    if (byte < 0xc2 || byte > 0xf4) return false;
    left_ = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    if (byte == 0xe0) min_ = 0xa0;
    if (byte == 0xf0) min_ = 0x90;
    if (byte == 0xed) max_ = 0x9f;
    if (byte == 0xf4) max_ = 0x8f;
    return true;
  }

  // Whether the last character is complete.
  bool is_complete() const noexcept { return left_ == 0; }

 private:
  unsigned left_ = 0;                      // missing bytes of the current character
  unsigned char min_ = 0x80, max_ = 0xbf;  // allowed range of the next byte
};

bool is_utf8(std::string_view text);

// Checks for text that may be written to a terminal: UTF-8 without control characters except backspace, tab,
// newline, form feed and carriage return. Escape is not allowed because it begins control sequences. Takes
// one byte at a time.
class TerminalTextCheck {
 public:
  // Whether this byte may follow the bytes before it, which must have been valid.
  bool take(char c);

 private:
  Utf8Check utf8_;
  unsigned char before_ = 0;  // the last byte
};

// Windows programs write one at the beginning of a text file. Not a part of the text, but of the contents of
// the file.
struct ByteOrderMark {
  std::string_view encoding, bytes;
  std::string_view before_ascii;  // the mark and an ASCII character, in which '?' is any byte
};
inline constexpr std::array byte_order_marks{ByteOrderMark{"UTF-8", "\xef\xbb\xbf", "\xef\xbb\xbf"},
                                             ByteOrderMark{"UTF-16", "\xff\xfe", {"\xff\xfe?\0", 4}},
                                             ByteOrderMark{"UTF-16", "\xfe\xff", {"\xfe\xff\0?", 4}}};

// The encoding of the mark that the text begins with; empty if there is none.
std::string_view marked_encoding(std::string_view text);

// UsageError naming `name` if the text begins with a mark.
void refuse_byte_order_mark(std::string_view text, std::string_view name);

struct Character {
  std::string_view bytes;
  std::optional<char32_t> code;  // none if the bytes are not UTF-8
};

// Removes the first character from `text`, which must not be empty. Bytes that are not UTF-8 are divided as
// the Unicode Standard recommends (section 3.9): the beginning of a character that has no valid end, or else
// a single byte.
Character take_character(std::string_view& text);

// Whether a character can be seen, or is a space, and changes nothing else on a terminal.
bool is_visible(char32_t code);

// The text with a question mark in place of each character that is not visible, and of what is not UTF-8.
std::string printable(std::string_view text);

}  // namespace gpuaes
