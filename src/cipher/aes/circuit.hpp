// AES of a single block (FIPS 197, section 5.1) without tables: its 16 bytes go through the circuit of the
// S-box together. Slow beside what does 32 blocks at once; for what is done once for a key, or for a whole
// tile.
#pragma once

#include <cstdint>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/block.hpp"
#include "cipher/aes/sbox_circuit.hpp"
#include "cipher/host_device.hpp"

namespace gpuaes::aes {

// SubBytes of one block: its 16 bytes are the slices. Bit i of byte b of column c lies in bit 8b + c of x[i].
GPUAES_HD inline void substitute(Block& block) {
  constexpr std::uint32_t lowest = 0x01010101;
  std::uint32_t x[8]{};
  for (int i = 0; i < 8; ++i) {
    for (int c = 0; c < 4; ++c) x[i] |= (block.words[c] >> i & lowest) << c;
  }
  substitute(x);
  for (int c = 0; c < 4; ++c) {
    block.words[c] = 0;
    for (int i = 0; i < 8; ++i) block.words[c] |= (x[i] >> c & lowest) << i;
  }
}

GPUAES_HD inline void shift_rows(Block& block) {
  const Block before = block;
  const std::uint32_t* const w = before.words;
  for (int c = 0; c < 4; ++c)
    block.words[c] = (w[c] & 0xff) | (w[(c + 1) % 4] & 0xff00) | (w[(c + 2) % 4] & 0xff0000) |
                     (w[(c + 3) % 4] & 0xff000000);
}

// `keys`: as expand_key() makes them.
inline Block encrypt(const RoundKeys& keys, Block block) {
  const std::uint32_t* key = keys.words.data();
  for (int c = 0; c < 4; ++c) block.words[c] ^= key[c];
  for (int round = 1; round <= keys.rounds; ++round) {
    key += 4;
    substitute(block);
    shift_rows(block);
    for (int c = 0; c < 4; ++c)
      block.words[c] = (round < keys.rounds ? mix_column(block.words[c]) : block.words[c]) ^ key[c];
  }
  return block;
}

}  // namespace gpuaes::aes
