#include "base/base64.hpp"

#include "base/libcrypto.hpp"
#include "base/public.hpp"

namespace gpuaes {
namespace {

constexpr unsigned bad_value = 64;

// The digits are A to Z, a to z, 0 to 9, + and /.
unsigned digit_of(unsigned value) {
  return (mask_between(value, 0, 25) & (value + 'A')) | (mask_between(value, 26, 51) & (value - 26 + 'a')) |
         (mask_between(value, 52, 61) & (value - 52 + '0')) | (mask_between(value, 62, 62) & '+') |
         (mask_between(value, 63, 63) & '/');
}

unsigned value_of(unsigned c) {
  const unsigned upper = mask_between(c, 'A', 'Z'), lower = mask_between(c, 'a', 'z'),
                 digit = mask_between(c, '0', '9'), plus = mask_between(c, '+', '+'),
                 slash = mask_between(c, '/', '/');
  return (upper & (c - 'A')) | (lower & (c - 'a' + 26)) | (digit & (c - '0' + 52)) | (plus & 62u) |
         (slash & 63u) | (~(upper | lower | digit | plus | slash) & bad_value);
}

}  // namespace

std::string encode_base64(std::span<const std::byte> bytes, Padding padding) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with a NUL
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), octets(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  if (padding == Padding::none) text.resize(text.find_last_not_of('=') + 1);
  return text;
}

std::optional<std::vector<std::byte>> decode_base64(std::string_view text, Padding padding) {
  std::string padded(text);
  if (padding == Padding::none) padded.resize((text.size() + 3) / 4 * 4, '=');
  const std::size_t count = padded.size() - (padded.find_last_not_of('=') + 1);
  if (padded.size() % 4 != 0 || count > 2) return std::nullopt;
  std::vector<std::byte> bytes(padded.size() / 4 * 3);
  if (EVP_DecodeBlock(octets(bytes.data()), reinterpret_cast<const unsigned char*>(padded.data()),
                      static_cast<int>(padded.size())) < 0)
    return std::nullopt;
  bytes.resize(bytes.size() - count);
  // EVP_DecodeBlock() alone accepts spaces and stray bits.
  if (encode_base64(bytes, padding) != text) return std::nullopt;
  return bytes;
}

void encode_secret_base64(std::span<const std::byte> bytes, std::span<std::byte> text) {
  unsigned held = 0, bits = 0;  // not yet written
  std::size_t next = 0;
  for (std::byte& digit : text) {
    if (bits < 6) {
      const unsigned byte = next < bytes.size() ? std::to_integer<unsigned>(bytes[next++]) : 0;
      held = (held << 8 | byte) & 0xffff;
      bits += 8;
    }
    bits -= 6;
    digit = static_cast<std::byte>(digit_of(held >> bits & 63));
  }
}

bool decode_secret_base64(std::string_view text, std::span<std::byte> bytes) {
  unsigned held = 0, bits = 0, bad = 0;
  std::size_t done = 0;
  for (const char c : text) {
    const unsigned value = value_of(static_cast<unsigned char>(c));
    bad |= value & bad_value;
    held = (held << 6 | (value & 63)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[done++] = static_cast<std::byte>(held >> bits);
  }
  const bool is_canonical = (bad | (held & ((1u << bits) - 1))) == 0;
  return as_public(is_canonical) && text.size() % 4 != 1;
}

}  // namespace gpuaes
