// The ChaCha20 block function (RFC 8439, section 2.3), for host and device. Additions, XORs and rotations
// only: no branch or memory access depends on secrets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cipher/host_device.hpp"

namespace gpuaes::chacha20 {

inline constexpr std::size_t block_bytes = 64, key_words = 8, nonce_words = 3;

// Words are little-endian.
struct Block {
  std::uint32_t words[16];
};

GPUAES_HD inline std::uint32_t rotate_left(std::uint32_t word, unsigned bits) {
  return word << bits | word >> (32 - bits);
}

GPUAES_HD inline void quarter_round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d) {
  a += b, d = rotate_left(d ^ a, 16);
  c += d, b = rotate_left(b ^ c, 12);
  a += b, d = rotate_left(d ^ a, 8);
  c += d, b = rotate_left(b ^ c, 7);
}

// The state before the rounds: constants, key, counter, nonce.
GPUAES_HD inline Block first_state(const std::uint32_t* key, std::uint32_t counter,
                                   const std::uint32_t* nonce) {
  Block state{{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}};
  for (std::size_t i = 0; i < key_words; ++i) state.words[4 + i] = key[i];
  state.words[12] = counter;
  for (std::size_t i = 0; i < nonce_words; ++i) state.words[13 + i] = nonce[i];
  return state;
}

// A column round and a diagonal round.
GPUAES_HD inline void double_round(std::uint32_t* x) {
  for (unsigned column = 0; column < 4; ++column)
    quarter_round(x[column], x[4 + column], x[8 + column], x[12 + column]);
  for (unsigned diagonal = 0; diagonal < 4; ++diagonal)
    quarter_round(x[diagonal], x[4 + (diagonal + 1) % 4], x[8 + (diagonal + 2) % 4],
                  x[12 + (diagonal + 3) % 4]);
}

// One block of keystream.
GPUAES_HD inline Block block(const std::uint32_t* key, std::uint32_t counter, const std::uint32_t* nonce) {
  const Block first = first_state(key, counter, nonce);
  Block state = first;
  GPUAES_NO_UNROLL
  for (unsigned i = 0; i < 10; i += 2) {  // two at a time were faster on GPUs than one or ten
    double_round(state.words);
    double_round(state.words);
  }
  for (unsigned i = 0; i < 16; ++i) state.words[i] += first.words[i];
  return state;
}

}  // namespace gpuaes::chacha20
