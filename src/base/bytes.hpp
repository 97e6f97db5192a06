// Small helpers for sequences of bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace gpuaes {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// GCC 12 gives a false overflow warning if this uses insert().
inline void append(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  const std::size_t at = bytes.size();
  bytes.resize(at + more.size());
  std::ranges::copy(more, bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace gpuaes
