// Text in JSON.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/unicode.hpp"

namespace gpuaes {

// One character in UTF-16.
inline std::string json_escape(char32_t code) {
  if (code < 0x10000) return fmt::format("\\u{:04x}", static_cast<unsigned>(code));
  const auto above = static_cast<unsigned>(code) - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 | above >> 10, 0xdc00 | (above & 0x3ff));
}

// The text as a string, in which U+FFFD replaces what is not UTF-8. Characters that are not visible are
// escaped, since JSON is also read on terminals.
inline std::string json_string(std::string_view text) {
  std::string json;
  while (!text.empty()) {
    const auto [bytes, code] = take_character(text);
    if (!code)
      json += "\\ufffd";
    else if (is_visible(*code) && *code != '"' && *code != '\\')
      json += bytes;
    else
      json += json_escape(*code);
  }
  return fmt::format("\"{}\"", json);
}

}  // namespace gpuaes
