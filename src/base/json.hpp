// Text in JSON.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace gpuaes {

// JSON is UTF-8: in text that is not, U+FFFD replaces each byte that is not ASCII. The control characters up
// to U+009F are escaped, since JSON is also read on terminals.
inline std::string json_string(std::string_view text) {
  const bool valid = is_utf8(text);
  std::string json;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f)
      json += fmt::format("\\u{:04x}", byte);
    else if (byte >= 0x80 && !valid)
      json += "\\ufffd";
    else if (byte == 0xc2 && next < 0xa0)  // U+0080 to U+009F
      json += fmt::format("\\u{:04x}", text[++i] & 0xff);
    else
      json += text[i];
  }
  return fmt::format("\"{}\"", json);
}

}  // namespace gpuaes
