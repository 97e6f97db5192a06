// Bytes with a pattern or from text, and comparison of bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace gpuaes {

using Bytes = std::vector<std::byte>;

// Spaces between digits are ignored.
inline Bytes from_hex(std::string_view text) {
  Bytes bytes;
  unsigned value = 0, digits = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    if (++digits % 2 == 0) bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

// The words of a line of test vectors. The word - stands for no digits.
inline std::vector<std::string> words_of(std::string_view line) {
  std::istringstream words{std::string(line)};
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word == "-" ? "" : word);
  return all;
}

// `size` bytes, starting at offset `from`, of a stream whose byte i is i mod 251. The period is a prime, so a
// misplaced block differs.
inline Bytes test_bytes(std::size_t size, std::size_t from = 0) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((from + i) % 251);
  return bytes;
}

inline Bytes to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Empty if both are equal, otherwise where they first differ, so a failed check does not print megabytes.
inline std::string difference(std::span<const std::byte> got, std::span<const std::byte> expected) {
  const auto [at, other] = std::ranges::mismatch(got, expected);
  if (at == got.end() && other == expected.end()) return {};
  return "differ at byte " + std::to_string(at - got.begin()) + ", sizes " + std::to_string(got.size()) +
         " and " + std::to_string(expected.size());
}

}  // namespace gpuaes
