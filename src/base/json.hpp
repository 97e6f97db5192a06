// Text in JSON.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/base64.hpp"
#include "base/bytes.hpp"
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

// The members of an object that name a file. A name that is not UTF-8 is only legible as a string, so its
// bytes are there too.
inline std::string json_file(std::string_view name) {
  const std::string text = fmt::format(R"("file": {})", json_string(name));
  if (is_utf8(name)) return text;
  return fmt::format(R"({}, "file_base64": "{}")", text, encode_base64(bytes_of(name), Padding::required));
}

}  // namespace gpuaes
