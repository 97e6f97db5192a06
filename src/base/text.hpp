// Small helpers for text.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpuaes {

inline constexpr const char* line_spaces = " \t\r";

// The text without the spaces, tabs and carriage returns at its end, or at both ends.
inline std::string_view trim_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(line_spaces) + 1);
}
inline std::string_view trim(std::string_view text) {
  return trim_end(text.substr(std::min(text.find_first_not_of(line_spaces), text.size())));
}

inline std::string join(const std::vector<std::string_view>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// A hint that lists names. Empty, which means no hint, where there are none.
inline std::string list_hint(fmt::format_string<std::string> hint,
                             const std::vector<std::string_view>& names) {
  return names.empty() ? std::string() : fmt::format(hint, join(names));
}

// UTF-8 as RFC 3629 defines it: the shortest form, no surrogates, nothing above U+10FFFF. Checks text byte by
// byte, so that a character may continue in the next piece.
class Utf8Check {
 public:
  // Whether this byte may follow the ones before it, all of which were valid. Table 3-7 of the Unicode
  // standard.
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

  // Whether the last character has all its bytes.
  bool is_complete() const noexcept { return left_ == 0; }

 private:
  unsigned left_ = 0;                      // bytes that the current character still lacks
  unsigned char min_ = 0x80, max_ = 0xbf;  // range of the next one of them
};

inline bool is_utf8(std::string_view text) {
  Utf8Check check;
  return std::ranges::all_of(text, [&check](char c) { return check.take(static_cast<unsigned char>(c)); }) &&
         check.is_complete();
}

}  // namespace gpuaes
