#include "keys/bech32.hpp"

#include <algorithm>
#include <cstdint>

#include "base/public.hpp"
#include "keys/secret.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view digits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";  // for the values 0 to 31
constexpr std::size_t checksum_characters = 6;
constexpr unsigned bad_value = 32;

// All ones if the bytes a and b are equal, otherwise zero.
unsigned mask_equal(unsigned a, unsigned b) {
  return 0u - (((a ^ b) - 1) >> 31);
}

// Compares with every digit, because a table lookup would be a secret-dependent memory access.
unsigned value_of(unsigned lower_case) {
  unsigned value = bad_value;
  for (unsigned i = 0; i < digits.size(); ++i)
    value ^= (bad_value ^ i) & mask_equal(lower_case, static_cast<unsigned char>(digits[i]));
  return value;
}

unsigned digit_of(unsigned value) {
  unsigned digit = 0;
  for (unsigned i = 0; i < digits.size(); ++i)
    digit |= static_cast<unsigned char>(digits[i]) & mask_equal(value, i);
  return digit;
}

unsigned to_lower(unsigned c) {
  return c | (0x20u & mask_between(c, 'A', 'Z'));
}

unsigned to_upper(unsigned c) {
  return c & ~(0x20u & mask_between(c, 'a', 'z'));
}

// The BCH checksum of a prefix and the 5-bit values after it.
class Checksum {
 public:
  explicit Checksum(std::string_view prefix) {
    for (const char c : prefix) add(to_lower(static_cast<unsigned char>(c)) >> 5);
    add(0);
    for (const char c : prefix) add(static_cast<unsigned char>(c) & 31u);
  }

  void add(unsigned value) {
    constexpr std::uint32_t generator[] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
    const std::uint32_t top = state_ >> 25;
    state_ = (state_ & 0x1ffffff) << 5 ^ value;
    for (unsigned i = 0; i < 5; ++i) state_ ^= generator[i] & (0u - (top >> i & 1));
  }

  // 1 if the values added end with their checksum.
  std::uint32_t state() const { return state_; }

 private:
  std::uint32_t state_ = 1;
};

}  // namespace

void encode_bech32(std::string_view prefix, std::span<const std::byte> data, std::span<std::byte> out) {
  const bool uppercase = std::ranges::any_of(prefix, [](char c) { return c >= 'A' && c <= 'Z'; });
  std::size_t at = 0;
  for (const char c : prefix) out[at++] = static_cast<std::byte>(c);
  out[at++] = std::byte{'1'};
  Checksum checksum(prefix);
  const auto put = [&](unsigned value) {
    const unsigned digit = digit_of(value);
    out[at++] = static_cast<std::byte>(uppercase ? to_upper(digit) : digit);
  };
  unsigned held = 0, bits = 0;  // data bits not yet written
  const auto put_data = [&] {
    const unsigned value = held >> (bits - 5) & 31;
    checksum.add(value);
    put(value);
    bits -= 5;
  };
  for (const std::byte byte : data) {
    held = (held << 8 | std::to_integer<unsigned>(byte)) & 0xfff;
    bits += 8;
    while (bits >= 5) put_data();
  }
  if (bits > 0) {
    held <<= 5 - bits;
    bits = 5;
    put_data();
  }
  for (std::size_t i = 0; i < checksum_characters; ++i) checksum.add(0);
  for (std::size_t i = checksum_characters; i-- > 0;) put((checksum.state() ^ 1) >> (5 * i) & 31);
}

std::string_view describe(Bech32Fault fault) {
  switch (fault) {
    case Bech32Fault::prefix:
    case Bech32Fault::length:
      return "it is not complete";
    case Bech32Fault::character:
      return "it contains an invalid character";
    case Bech32Fault::mixed_case:
      return "it mixes uppercase and lowercase letters";
    case Bech32Fault::checksum:
      return "its checksum is wrong; check for typing errors";
    case Bech32Fault::padding:
      return "its unused bits are not zero";
    case Bech32Fault::none:
      break;
  }
  return {};
}

Bech32Fault decode_bech32(std::string_view prefix, std::string_view text, std::span<std::byte> data) {
  if (prefix.empty() || !has_bech32_prefix(prefix, text)) return Bech32Fault::prefix;
  if (text.size() != bech32_characters(prefix.size(), data.size())) return Bech32Fault::length;
  unsigned lower = 0, upper = 0, odd = 0;
  for (const char each : text) {
    const unsigned c = static_cast<unsigned char>(each);
    lower |= mask_between(c, 'a', 'z');
    upper |= mask_between(c, 'A', 'Z');
    odd |= ~mask_between(c, 33, 126);
  }
  Checksum checksum(prefix);
  const std::string_view values = text.substr(prefix.size() + 1);
  unsigned held = 0, bits = 0;
  std::size_t done = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const unsigned value = value_of(to_lower(static_cast<unsigned char>(values[i])));
    odd |= value & bad_value;
    checksum.add(value);
    if (i >= values.size() - checksum_characters) continue;
    held = (held << 5 | (value & 31)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    data[done++] = static_cast<std::byte>(held >> bits);
  }
  // What is wrong with the text is public.
  if (as_public(odd != 0)) return Bech32Fault::character;
  if (as_public((lower & upper) != 0)) return Bech32Fault::mixed_case;
  if (as_public(checksum.state() != 1)) return Bech32Fault::checksum;
  return as_public((held & ((1u << bits) - 1)) == 0) ? Bech32Fault::none : Bech32Fault::padding;
}

// No early exit: `text` may be a raw key.
Bech32Fault check_bech32(std::string_view prefix, std::string_view text) {
  const std::size_t others = bech32_characters(prefix.size(), 0);
  Secret data(text.size() > others ? (text.size() - others) * 5 / 8 : 0);
  return decode_bech32(prefix, text, data.bytes());
}

bool has_bech32_prefix(std::string_view prefix, std::string_view text) {
  if (text.size() <= prefix.size()) return false;
  unsigned different = static_cast<unsigned char>(text[prefix.size()]) ^ unsigned { '1' };
  for (std::size_t i = 0; i < prefix.size(); ++i)
    different |=
        to_lower(static_cast<unsigned char>(prefix[i])) ^ to_lower(static_cast<unsigned char>(text[i]));
  return as_public(different == 0);
}

}  // namespace gpuaes
