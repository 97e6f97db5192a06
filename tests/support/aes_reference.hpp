// AES as in the standard, with which faster code is compared, alone and in counter mode; counter blocks from
// text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/block.hpp"
#include "cipher/modes/ctr.hpp"
#include "support/bytes.hpp"

namespace gpuaes {

namespace aes {

// FIPS 197, section 5.1. Byte 4c + r of the state is row r of column c, as in figure 3 of the standard.
constexpr void encrypt_block(const RoundKeys& keys, const std::uint8_t in[16], std::uint8_t out[16]) {
  std::array<std::uint8_t, 16> state{};
  const auto add_round_key = [&](int round) {
    for (unsigned i = 0; i < 16; ++i)
      state[i] ^=
          static_cast<std::uint8_t>(keys.words[4 * static_cast<unsigned>(round) + i / 4] >> 8 * (i % 4));
  };
  for (unsigned i = 0; i < 16; ++i) state[i] = in[i];
  add_round_key(0);
  for (int round = 1; round <= keys.rounds; ++round) {
    std::array<std::uint8_t, 16> shifted{};  // SubBytes and ShiftRows
    for (unsigned i = 0; i < 16; ++i) shifted[i] = sbox[state[(i + 4 * (i % 4)) % 16]];
    if (round == keys.rounds) {
      state = shifted;
    } else {  // MixColumns: coefficients 2, 3, 1, 1, rotated by the row
      for (unsigned i = 0; i < 16; ++i) {
        const auto row = [&](unsigned distance) { return shifted[i / 4 * 4 + (i + distance) % 4]; };
        state[i] = static_cast<std::uint8_t>(times_x(row(0)) ^ times_x(row(1)) ^ row(1) ^ row(2) ^ row(3));
      }
    }
    add_round_key(round);
  }
  for (unsigned i = 0; i < 16; ++i) out[i] = state[i];
}

}  // namespace aes

inline CounterBlock counter_block(std::string_view hex) {
  const Bytes bytes = from_hex(hex);
  CounterBlock block{};
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = std::to_integer<std::uint8_t>(bytes.at(i));
  return block;
}

inline CounterBlock to_bytes(const aes::Block& block) {
  CounterBlock bytes{};
  for (std::size_t i = 0; i < 16; ++i)
    bytes[i] = static_cast<std::uint8_t>(block.words[i / 4] >> 8 * (i % 4));
  return bytes;
}

// Block `number` of the keystream that begins with `counter`.
inline CounterBlock reference_keystream(const aes::RoundKeys& keys, Counter counter, std::uint64_t number) {
  CounterBlock block = store_counter(counter + number);
  aes::encrypt_block(keys, block.data(), block.data());
  return block;
}

// Counter mode with a function that encrypts a block.
template <class Encrypt>
Bytes reference_ctr(Encrypt encrypt, Counter counter, Bytes bytes) {
  CounterBlock key{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 16 == 0) key = encrypt(store_counter(counter + i / 16));
    bytes[i] ^= static_cast<std::byte>(key[i % 16]);
  }
  return bytes;
}

inline Bytes reference_ctr(const aes::RoundKeys& keys, Counter counter, const Bytes& bytes) {
  const auto encrypt = [&](CounterBlock block) {
    aes::encrypt_block(keys, block.data(), block.data());
    return block;
  };
  return reference_ctr(encrypt, counter, bytes);
}

}  // namespace gpuaes
