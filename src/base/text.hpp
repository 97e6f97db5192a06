// Small helpers for text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace gpuaes {

// The text without the spaces, tabs and carriage returns at its beginning and end.
inline std::string_view trim(std::string_view text) {
  constexpr const char* spaces = " \t\r";
  const std::size_t begin = std::min(text.find_first_not_of(spaces), text.size());
  return text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
}

}  // namespace gpuaes
