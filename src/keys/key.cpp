#include "keys/key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/public.hpp"
#include "base/text.hpp"

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

bool has_hex_length(std::string_view digits) {
  return digits.size() % 2 == 0 && is_key_size(digits.size() / 2);
}

// Uses only arithmetic, too.
bool is_space(char character) {
  const auto c = static_cast<unsigned char>(character);
  return (c ^ unsigned{' '}) * (c ^ unsigned{'\t'}) * (c ^ unsigned{'\r'}) * (c ^ unsigned{'\n'}) == 0;
}

// Where the text ends is public.
std::string_view trim_contents(std::span<const std::byte> contents) {
  std::string_view text = as_text(contents);
  while (!text.empty() && as_public(is_space(text.back()))) text.remove_suffix(1);
  return text;
}

// Whether all bytes are printable ASCII or white space. Uses only arithmetic, too.
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
  return as_public(bad == 0);
}

std::optional<RawKey> find_raw_key(std::span<const std::byte> contents) {
  const std::string_view digits = trim_contents(contents);
  if (has_hex_length(digits)) {
    Secret key(digits.size() / 2);
    if (parse_hex(digits, key.bytes())) return RawKey{std::move(key), RawKey::Form::digits};
  }
  if (!is_key_size(contents.size())) return std::nullopt;
  return RawKey{secret_of(contents), as_public(is_text(contents)) ? RawKey::Form::text : RawKey::Form::bytes};
}

UsageError raw_key_fault(std::span<const std::byte> contents, std::string_view name) {
  const std::string_view digits = trim_contents(contents);
  if (digits.empty()) return UsageError(fmt::format("{} is empty", name), key_hint);
  if (has_hex_length(digits))
    return UsageError(fmt::format("the key in {} has {} characters, but not all are hexadecimal digits", name,
                                  digits.size()),
                      key_hint);
  if (contents.size() > max_key_file_bytes)
    return UsageError(fmt::format("the key in {} is longer than {} bytes", name, max_key_file_bytes),
                      key_hint);
  if (are_digits(digits))
    return UsageError(fmt::format("the key in {} has {} hexadecimal digits", name, digits.size()), key_hint);
  return UsageError(fmt::format("the key in {} has an invalid length of {} bytes", name, contents.size()),
                    key_hint);
}

bool has_only_comments(std::span<const std::byte> contents) {
  const std::string_view text = as_text(contents);
  return is_text(contents) && first_content_line(text).empty() && text.find('#') != text.npos;
}

}  // namespace gpuaes
