// The key expansion of AES (FIPS 197), which needs no tables, and its S-box, for code with tables.
//
// A column of the state, or a word of the key schedule, is a 32-bit number with row r in bits 8r to 8r + 7.
// FIPS 197 uses the opposite byte order; with this one, little-endian machines load columns without swapping
// bytes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/aes/sbox_circuit.hpp"

namespace gpuaes::aes {

// Multiplication by x in GF(2^8) (FIPS 197, section 4.2.1).
constexpr std::uint8_t times_x(std::uint8_t value) {
  return static_cast<std::uint8_t>(value << 1 ^ (value >> 7) * 0x1b);
}

// FIPS 197, section 5.1.1. `power` takes all powers of the generator x + 1, and `inverse` their inverses. The
// S-box value of a power is the affine transformation of its inverse.
constexpr std::array<std::uint8_t, 256> make_sbox() {
  std::array<std::uint8_t, 256> sbox{0x63};
  std::uint8_t power = 1, inverse = 1;
  do {
    power ^= times_x(power);
    inverse ^= static_cast<std::uint8_t>(inverse << 1);
    inverse ^= static_cast<std::uint8_t>(inverse << 2);
    inverse ^= static_cast<std::uint8_t>(inverse << 4);
    if (inverse & 0x80) inverse ^= 0x09;
    sbox[power] = static_cast<std::uint8_t>(inverse ^ std::rotl(inverse, 1) ^ std::rotl(inverse, 2) ^
                                            std::rotl(inverse, 3) ^ std::rotl(inverse, 4) ^ 0x63);
  } while (power != 1);
  return sbox;
}

inline constexpr std::array<std::uint8_t, 256> sbox = make_sbox();

constexpr int rounds(std::size_t key_bytes) {
  return static_cast<int>(key_bytes / 4) + 6;
}

// As secret as the key; its owner must wipe it.
struct RoundKeys {
  std::array<std::uint32_t, 60> words;  // the first 4 * (rounds + 1) are used; the rest are 0
  int rounds;
};

// FIPS 197, section 5.2. The key has 16, 24 or 32 bytes.
inline RoundKeys expand_key(std::span<const std::byte> key) {
  RoundKeys keys{{}, rounds(key.size())};
  const std::size_t key_words = key.size() / 4;
  for (std::size_t i = 0; i < key.size(); ++i)
    keys.words[i / 4] |= std::to_integer<std::uint32_t>(key[i]) << 8 * (i % 4);
  std::uint8_t round_constant = 1;
  for (std::size_t i = key_words; i < 4 * static_cast<std::size_t>(keys.rounds + 1); ++i) {
    std::uint32_t word = keys.words[i - 1];
    if (i % key_words == 0) {
      word = substitute_word(std::rotr(word, 8)) ^ round_constant;
      round_constant = times_x(round_constant);
    } else if (key_words > 6 && i % key_words == 4) {
      word = substitute_word(word);
    }
    keys.words[i] = keys.words[i - key_words] ^ word;
  }
  return keys;
}

}  // namespace gpuaes::aes
