#include "keys/key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace gpuaes {
namespace {

constexpr char key_hint[] = "a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits";

// The value of a hexadecimal digit, or 16 for any other character. Uses only arithmetic: no branch or memory
// access depends on a digit of a key.
unsigned digit_value(unsigned char c) {
  const unsigned digit = c - unsigned{'0'};
  const unsigned letter = (c | 0x20u) - unsigned{'a'};
  const unsigned is_digit = 0u - static_cast<unsigned>(digit < 10);
  const unsigned is_letter = 0u - static_cast<unsigned>(letter < 6);
  return (digit & is_digit) | ((letter + 10) & is_letter) | (16u & ~(is_digit | is_letter));
}

bool are_digits(std::string_view text) {
  unsigned bad = 0;
  for (const char c : text) bad |= digit_value(static_cast<unsigned char>(c)) & 16u;
  return bad == 0;
}

bool is_key_size(std::size_t size) {
  return size == 16 || size == 24 || size == 32;
}

}  // namespace

bool parse_hex(std::string_view digits, std::span<std::byte> out) {
  if (digits.size() != 2 * out.size()) return false;
  unsigned bad = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const unsigned high = digit_value(static_cast<unsigned char>(digits[2 * i]));
    const unsigned low = digit_value(static_cast<unsigned char>(digits[2 * i + 1]));
    bad |= (high | low) & 16u;
    out[i] = static_cast<std::byte>(high << 4 | (low & 15u));
  }
  return bad == 0;
}

Secret parse_key(std::span<const std::byte> contents, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(contents.data()), contents.size());
  const std::string_view digits = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  const bool hex_length = digits.size() % 2 == 0 && is_key_size(digits.size() / 2);
  if (hex_length) {
    Secret key(digits.size() / 2);
    if (parse_hex(digits, key.bytes())) return key;
  }
  if (is_key_size(contents.size())) {
    Secret key(contents.size());
    std::ranges::copy(contents, key.bytes().begin());
    return key;
  }
  if (contents.empty()) throw UsageError(fmt::format("{} is empty", name), key_hint);
  if (hex_length)
    throw UsageError(fmt::format("the key in {} has {} characters, but not all are hexadecimal digits", name,
                                 digits.size()),
                     key_hint);
  if (contents.size() > max_key_file_bytes)
    throw UsageError(fmt::format("the key in {} is longer than {} bytes", name, max_key_file_bytes),
                     key_hint);
  if (are_digits(digits))
    throw UsageError(fmt::format("the key in {} has {} hexadecimal digits", name, digits.size()), key_hint);
  throw UsageError(fmt::format("the key in {} has an invalid length of {} bytes", name, contents.size()),
                   key_hint);
}

// Uses only arithmetic, as digit_value() does.
bool is_text(std::span<const std::byte> contents) {
  unsigned other = 0;
  for (const std::byte byte : contents) {
    const auto c = std::to_integer<unsigned>(byte);
    const unsigned is_printable = 0u - static_cast<unsigned>(c - 0x20 < 0x5f);
    const unsigned is_space = 0u - static_cast<unsigned>(c - 0x09 < 0x05);
    other |= ~(is_printable | is_space);
  }
  return other == 0;
}

Secret parse_passphrase(std::span<const std::byte> contents, std::string_view name) {
  const auto end = std::ranges::find(contents, std::byte{'\n'});
  const std::span<const std::byte> line = contents.first(static_cast<std::size_t>(end - contents.begin()));
  if (line.empty()) throw UsageError(fmt::format("the passphrase from {} is empty", name));
  if (line.size() > max_passphrase_bytes)
    throw UsageError(
        fmt::format("the passphrase from {} is longer than {} bytes", name, max_passphrase_bytes),
        "a passphrase ends at the first newline");
  Secret passphrase(line.size());
  std::ranges::copy(line, passphrase.bytes().begin());
  return passphrase;
}

}  // namespace gpuaes
