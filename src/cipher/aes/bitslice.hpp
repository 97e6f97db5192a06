// Bitsliced AES (Biham, "A fast new DES implementation in software", 1997), as run by a GPU thread; the host
// runs the same code. Word p of a state holds bit p of 32 blocks, so one instruction processes all of them.
// There are no tables, and no memory address or branch depends on key or data.
//
// A GPU thread holds one column of the state, 32 words, and four neighboring threads hold a state; ShiftRows
// exchanges words between them. With all 128 words in one thread, too few threads would fit on a
// multiprocessor to hide latency. On the host, one thread holds all four columns, and ShiftRows only renames
// words.
#pragma once

#include <cstdint>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/sbox_circuit.hpp"
#include "cipher/host_device.hpp"

namespace gpuaes::aes {

// Word 8r + i holds bit i of row r; bit k of it belongs to block k.
struct Column {
  std::uint32_t words[32];
};

// The columns that one thread holds: column `position`, or all four (then `position` is 0).
template <int own>
struct State {
  static_assert(own == 1 || own == 4);
  Column columns[own];
};

// A round key, expanded for addition: all bits of a word equal one bit of the key. The four rows, which are
// needed together, are adjacent: bit i of row r of column c is [4i + c].rows[r].
struct alignas(16) KeyRows {
  std::uint32_t rows[4];
};
inline constexpr unsigned key_rows = 32;  // per round key

// All ones if that bit of the word is 1, otherwise 0.
GPUAES_HD inline std::uint32_t spread_bit(std::uint32_t word, unsigned bit) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(word << (31 - bit)) >> 31);
}

// Entry `index` of the round key with these four words of expand_key().
GPUAES_HD inline KeyRows make_key_rows(const std::uint32_t words[4], unsigned index) {
  const std::uint32_t word = words[index % 4];
  const unsigned bit = index / 4;
  return {{spread_bit(word, bit), spread_bit(word, 8 + bit), spread_bit(word, 16 + bit),
           spread_bit(word, 24 + bit)}};
}

// The word held by the thread with column `column` of the same state.
GPUAES_HD inline std::uint32_t word_of(std::uint32_t word, unsigned column) {
#if defined(__CUDA_ARCH__) || defined(GPUAES_HOST_WARPS)
  return __shfl_sync(0xffffffff, word, static_cast<int>(column), 4);
#else
  static_cast<void>(column);
  return word;  // never called: one thread holds all columns
#endif
}

// Row r of column c + r moves to column c.
template <int own>
GPUAES_HD inline void shift_rows(State<own>& state, unsigned position) {
  for (unsigned row = 1; row < 4; ++row) {
    for (unsigned bit = 8 * row; bit < 8 * row + 8; ++bit) {
      std::uint32_t before[own];
      for (unsigned c = 0; c < own; ++c) before[c] = state.columns[c].words[bit];
      for (unsigned c = 0; c < own; ++c)
        state.columns[c].words[bit] =
            own == 4 ? before[(c + row) % own] : word_of(before[c], (position + row) % 4);
    }
  }
}

// MixColumns and AddRoundKey: row r becomes 2 (a[r] + a[r+1]) + a[r+1] + a[r+2] + a[r+3] + key. Bits are
// processed from the highest down, because multiplication by 2 moves bits up. The bit shifted out at the top
// is added to bits 4, 3, 1 and 0.
//
// In bits 7, 6, 5 and 2, one sum of all four rows serves every row, because adding row r cancels it. In bits
// 4, 3, 1 and 0, separate sums of three rows take no more functions per row and make the common sum
// unnecessary. The total is 87 functions of three inputs.
inline constexpr int mix_logic = 87;
GPUAES_HD inline void mix(Column& column, const KeyRows* key, unsigned number) {
  using gpuaes::add;  // hidden by add() of blocks
  const auto a = [&](int row, int bit) -> std::uint32_t& { return column.words[row % 4 * 8 + bit]; };
  std::uint32_t out_of_top[4];
  for (int row = 0; row < 4; ++row) out_of_top[row] = a(row, 7) ^ a(row + 1, 7);
  for (int bit = 7; bit >= 0; --bit) {
    const KeyRows added = key[4 * static_cast<unsigned>(bit) + number];
    const bool is_reduced = bit == 4 || bit == 3 || bit <= 1;
    const std::uint32_t all_rows =
        bit == 7 ? out_of_top[0] ^ out_of_top[2] : add(a(0, bit), a(1, bit), a(2, bit)) ^ a(3, bit);
    std::uint32_t result[4];
    for (int row = 0; row < 4; ++row) {
      const std::uint32_t others = is_reduced ? add(add(a(row + 1, bit), a(row + 2, bit), a(row + 3, bit)),
                                                    added.rows[row], out_of_top[row])
                                              : add(all_rows, a(row, bit), added.rows[row]);
      result[row] = bit == 0 ? others : add(others, a(row, bit - 1), a(row + 1, bit - 1));
    }
    for (int row = 0; row < 4; ++row) a(row, bit) = result[row];
  }
}

GPUAES_HD inline void add_key(Column& column, const KeyRows* key, unsigned number) {
  for (int bit = 0; bit < 8; ++bit) {
    const KeyRows added = key[4 * static_cast<unsigned>(bit) + number];
    for (int row = 0; row < 4; ++row) column.words[8 * row + bit] ^= added.rows[row];
  }
}

template <int own>
GPUAES_HD inline void substitute(State<own>& state) {
  for (Column& column : state.columns) {
    for (int row = 0; row < 4; ++row) substitute(column.words + 8 * row);
  }
}

// Rounds `first` to `rounds`, which is the last one. `keys` has the key rows of all rounds, from round 0.
template <int own>
GPUAES_HD inline void encrypt(State<own>& state, const KeyRows* keys, int first, int rounds,
                              unsigned position) {
  GPUAES_NO_UNROLL
  for (int round = first; round < rounds; ++round) {
    substitute(state);
    shift_rows(state, position);
    for (unsigned c = 0; c < own; ++c)
      mix(state.columns[c], keys + static_cast<unsigned>(round) * key_rows, position + c);
  }
  substitute(state);
  shift_rows(state, position);
  for (unsigned c = 0; c < own; ++c)
    add_key(state.columns[c], keys + static_cast<unsigned>(rounds) * key_rows, position + c);
}

// Converts a bitsliced column to the words of expand_key(), word k being from block k, and back.
GPUAES_HD inline void transpose(Column& column) {
  gpuaes::transpose(column.words);
}

}  // namespace gpuaes::aes
