// Small helpers for sequences of bytes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuaes {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string digits;
  for (const std::byte byte : bytes) digits += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return digits;
}

// GCC 12 gives a false overflow warning if this uses insert().
inline void append(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  const std::size_t at = bytes.size();
  bytes.resize(at + more.size());
  std::ranges::copy(more, bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

// Does not leave copies of secret parts in freed memory.
template <class... Parts>
std::vector<std::byte> concatenate(const Parts&... parts) {
  std::vector<std::byte> bytes;
  bytes.reserve((parts.size() + ...));
  (append(bytes, parts), ...);
  return bytes;
}

// Copies as many bytes as fit in `out` from the beginning of `rest`, which then has those after them. Returns
// their number.
inline std::size_t take_into(std::span<std::byte> out, std::span<const std::byte>& rest) {
  const std::size_t count = std::min(out.size(), rest.size());
  std::ranges::copy(rest.first(count), out.begin());
  rest = rest.subspan(count);
  return count;
}

// Stores `number`, which must fit, as a big-endian integer that fills `out`.
inline void store_big_endian(std::uint64_t number, std::span<std::byte> out) {
  for (std::size_t i = out.size(); i-- > 0; number >>= 8) out[i] = static_cast<std::byte>(number);
}

// The big-endian integer in `bytes`, at most 8 bytes.
inline std::uint64_t load_big_endian(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (const std::byte byte : bytes) number = number << 8 | std::to_integer<std::uint64_t>(byte);
  return number;
}

}  // namespace gpuaes
