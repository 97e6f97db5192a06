// AES (FIPS 197, section 5.1) on one block in the registers of a GPU thread, without tables: its 16 bytes go
// through the S-box circuit together. Bitsliced code, which processes 32 blocks at a time, is much faster;
// this code is for values that are computed once per key or tile.
#pragma once

#include <cstdint>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/sbox_circuit.hpp"
#include "cipher/host_device.hpp"
#include "cipher/modes/ctr.hpp"

namespace gpuaes::aes {

// Word c is column c in the byte order of aes.hpp. On a little-endian machine, the words are therefore the 16
// bytes of the block in memory.
struct Block {
  std::uint32_t words[4];
};

GPUAES_HD inline Block add(const Block& a, const Block& b) {
  const std::uint32_t *x = a.words, *y = b.words;
  return {{x[0] ^ y[0], x[1] ^ y[1], x[2] ^ y[2], x[3] ^ y[3]}};
}

GPUAES_HD inline Block load_block(Counter counter) {
  const auto swap = [](std::uint64_t word) { return swap_bytes(static_cast<std::uint32_t>(word)); };
  return {{swap(counter.high >> 32), swap(counter.high), swap(counter.low >> 32), swap(counter.low)}};
}

// Multiplies each of four bytes by x in GF(2^8).
GPUAES_HD constexpr std::uint32_t times_x_each(std::uint32_t bytes) {
  return (bytes & 0x7f7f7f7f) << 1 ^ (bytes >> 7 & 0x01010101) * 0x1b;
}

// Row r of the result is row r + rows of the column.
GPUAES_HD constexpr std::uint32_t turn_rows(std::uint32_t column, unsigned rows) {
  return column >> 8 * rows | column << (32 - 8 * rows);
}

// MixColumns of one column (FIPS 197, section 5.1.3).
GPUAES_HD constexpr std::uint32_t mix_column(std::uint32_t column) {
  const std::uint32_t next = turn_rows(column, 1), pair = column ^ next;
  return times_x_each(pair) ^ next ^ turn_rows(pair, 2);
}

// SubBytes, with the 16 bytes as slices: bit 8b + c of x[i] is bit i of byte b of column c.
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
