// AES in CTR mode, bitsliced: the part of one GPU thread in a tile. A tile is 256 counters that differ only
// in the last byte; a warp processes it. The threads that hold a state (bitslice.hpp) form a group. Group g
// of 8 has the counters whose last byte is 8k + g, for k = 0 to 31, so a warp writes 128 contiguous bytes for
// each k.
//
// Round 1 (FIPS 197, section 5.1) moves the last byte of the counter to column 0, and round 2 moves the four
// bytes of column 0 to the four columns, one to each. For each block, two rounds therefore need only the
// substitution of these four bytes, each by the thread that holds its new column (begin_tile). The rest of
// the two rounds is the same in the whole tile and depends only on the other 15 bytes of the counter. It is
// computed without bitslicing, for 32 tiles at once, one in each thread of the warp (share_rounds).
#pragma once

#include <cstdint>

#include "cipher/aes/bitslice.hpp"
#include "cipher/aes/block.hpp"
#include "cipher/modes/ctr.hpp"

namespace gpuaes::aes {

inline constexpr unsigned slices = 32;  // blocks per word
inline constexpr unsigned groups = 8;   // of threads in a warp, with one column per thread
inline constexpr unsigned tile_blocks = slices * groups;

// A round of one block with some of its bytes left out: `kept` masks the bytes of each column after
// ShiftRows.
GPUAES_HD inline Block round_of(Block state, const std::uint32_t (&kept)[4], const std::uint32_t key[4]) {
  substitute(state);
  shift_rows(state);
  for (int c = 0; c < 4; ++c) state.words[c] = mix_column(state.words[c] & kept[c]) ^ key[c];
  return state;
}

// The parts of rounds 1 and 2 that all blocks of a tile share.
struct SharedRounds {
  std::uint32_t column0;  // after round 1, without the contribution of the counter's last byte
  Block rest;             // after round 2, without the contribution of column 0
};

// `first` is any counter of the tile. `round_keys` has at least those of rounds 0 to 2.
GPUAES_HD inline SharedRounds share_rounds(Counter first, const std::uint32_t* round_keys) {
  const Block state = add(load_block(first), {{round_keys[0], round_keys[1], round_keys[2], round_keys[3]}});
  const Block once = round_of(state, {0x00ffffff, 0xffffffff, 0xffffffff, 0xffffffff}, round_keys + 4);
  const Block twice = round_of(once, {0xffffff00, 0x00ffffff, 0xff00ffff, 0xffff00ff}, round_keys + 8);
  return {once.words[0], twice};
}

// twice = 2 y in GF(2^8).
GPUAES_HD inline void times_x(const std::uint32_t (&y)[8], std::uint32_t (&twice)[8]) {
  for (int i = 0; i < 8; ++i)
    twice[i] = i == 0 ? y[7] : i == 1 || i == 3 || i == 4 ? y[i - 1] ^ y[7] : y[i - 1];
}

// The row of column 0 that ShiftRows moves to `column`.
GPUAES_HD inline unsigned row_for(unsigned column) {
  return (4 - column) % 4;
}

// MixColumns adds row `from` to rows from, from - 1, from - 2 and from - 3 with the coefficients 2, 3, 1 and
// 1. These masks are all ones if the coefficient for row `to` includes 1 and 2, respectively.
GPUAES_HD inline std::uint32_t has_once(unsigned to, unsigned from) {
  return (from - to) % 4 == 0 ? 0 : 0xffffffff;
}
GPUAES_HD inline std::uint32_t has_twice(unsigned to, unsigned from) {
  return (from - to) % 4 < 2 ? 0xffffffff : 0;
}

// The contribution of the counter's last byte, in round 1, to the row of column 0 that round 2 moves to
// `column`; bitsliced, for the counters of a group. It is the same in all tiles under a key.
struct alignas(16) LastByte {
  std::uint32_t words[8];
};

GPUAES_HD inline LastByte make_last_byte(unsigned group, unsigned column, const std::uint32_t* round_keys) {
  constexpr std::uint32_t slice_number[5] = {0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00, 0xffff0000};
  const std::uint32_t once = has_once(row_for(column), 3), twice = has_twice(row_for(column), 3);
  std::uint32_t y[8], doubled[8];
  for (unsigned i = 0; i < 8; ++i)
    y[i] = (i < 3 ? spread_bit(group, i) : slice_number[i - 3]) ^ spread_bit(round_keys[3], 24 + i);
  substitute(y);
  times_x(y, doubled);
  LastByte result{};
  for (int i = 0; i < 8; ++i) result.words[i] = (y[i] & once) ^ (doubled[i] & twice);
  return result;
}

// Column `column` of the state after round 2. `column0` is from SharedRounds, and `rest` is its word for this
// column.
GPUAES_HD inline Column begin_tile(unsigned column, const LastByte& last_byte, std::uint32_t column0,
                                   std::uint32_t rest) {
  const unsigned from = row_for(column);
  std::uint32_t y[8], doubled[8];
  for (unsigned i = 0; i < 8; ++i) y[i] = last_byte.words[i] ^ spread_bit(column0 >> 8 * from, i);
  substitute(y);
  times_x(y, doubled);
  Column result;
  for (unsigned to = 0; to < 4; ++to) {
    const std::uint32_t once = has_once(to, from), twice = has_twice(to, from);
    for (unsigned i = 0; i < 8; ++i)
      result.words[8 * to + i] =
          add_masked(add_masked(spread_bit(rest, 8 * to + i), y[i], once), doubled[i], twice);
  }
  return result;
}

}  // namespace gpuaes::aes
