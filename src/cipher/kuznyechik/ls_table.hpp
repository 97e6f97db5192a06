// Kuznyechik encryption by LS tables, as one GPU thread does it; the host runs the same bodies. The addresses
// depend on key and data.
//
// L is linear, so L S of a block is the sum of a contribution of each of its bytes to the whole block: 16
// lookups of 16 bytes a round, in a table for each byte.
#pragma once

#include <array>
#include <cstdint>

#include "cipher/host_device.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/counter_blocks.hpp"

namespace gpuaes::kuznyechik {

constexpr BlockWords to_words(const Block& block) {
  BlockWords words{};
  for (unsigned i = 0; i < 16; ++i) words.words[i / 4] |= std::uint32_t{block[i]} << 8 * (i % 4);
  return words;
}

inline constexpr unsigned ls_entries = 16 * 256;

// 64 KiB. Entry 256 i + b is added if byte i of a block is b.
struct LsTables {
  BlockWords entries[ls_entries];
};

// The tables of a linear map after a substitution of each byte.
constexpr LsTables make_tables(Block (*map)(Block), const Substitution& substitution) {
  LsTables tables{};
  for (unsigned i = 0; i < 16; ++i) {
    BlockWords linear[256] = {};  // without the substitution
    for (unsigned bit = 0; bit < 8; ++bit) {
      Block one{};
      one[i] = static_cast<std::uint8_t>(1u << bit);
      const BlockWords column = to_words(map(one));
      for (unsigned rest = 0; rest < 1u << bit; ++rest)
        for (unsigned w = 0; w < 4; ++w)
          linear[1u << bit | rest].words[w] = linear[rest].words[w] ^ column.words[w];
    }
    for (unsigned b = 0; b < 256; ++b) tables.entries[256 * i + b] = linear[substitution[b]];
  }
  return tables;
}

constexpr LsTables make_ls_tables() {
  return make_tables(mix, pi);
}

// Round keys as words, in the order in which rounds add them.
using KeyWords = std::array<std::uint32_t, 4 * (rounds + 1)>;

constexpr KeyWords make_key_words(const RoundKeys& keys) {
  KeyWords made{};
  for (unsigned i = 0; i <= rounds; ++i) {
    const BlockWords words = to_words(keys.of[i]);
    for (unsigned w = 0; w < 4; ++w) made[4 * i + w] = words.words[w];
  }
  return made;
}

GPUAES_HD inline BlockWords key_of(const std::uint32_t* round_keys, unsigned round) {
  const std::uint32_t* const k = round_keys + 4 * round;
  return {{k[0], k[1], k[2], k[3]}};
}

// Lookups: entry(state, step) for steps 0 to 15 are the 16 entries of a round, each once and in any order.

// Tables as LsTables has them. Memory: entry(index).
template <class Memory>
struct InOrder {
  const Memory& memory;
  GPUAES_HD BlockWords entry(const BlockWords& state, unsigned step) const {
    return memory.entry(256 * step + (state.words[step / 4] >> 8 * (step % 4) & 0xff));
  }
};

// Entry 256 i + b moves to 16 b + i.
constexpr LsTables interleave(const LsTables& tables) {
  LsTables moved{};
  for (unsigned i = 0; i < ls_entries; ++i) moved.entries[i % 256 * 16 + i / 256] = tables.entries[i];
  return moved;
}

// Shared memory serves 8 threads at a time with 16 bytes each, from 8 groups of 4 banks. Here the 16 entries
// for a value of a byte are contiguous, so each table has its own bank group, and each of 8 threads takes the
// tables in another order: there are no bank conflicts, whatever they look up. Each thread begins at another
// one of the first 8 tables and goes around these, then does the same with the last 8, so that the byte of a
// step is in one of two words of the state. 16 times the number of a table is both the offset of its entry
// and the selector that moves the byte to its position in an address. (The number is a sum because nvcc
// spends another instruction on each XOR with the lane, every time.)
class Interleaved {
 public:
  // `tables`: interleave()d, aligned to 16 bytes.
  GPUAES_HD Interleaved(const BlockWords* tables, unsigned warp_lane)
      : tables_(reinterpret_cast<const char*>(tables)) {
    for (unsigned step = 0; step < 8; ++step) own_[step] = 16 * ((step + warp_lane) % 8);
  }

  GPUAES_HD BlockWords entry(const BlockWords& state, unsigned step) const {
    const unsigned half = step / 8, own = own_[step % 8];
    const std::uint32_t moved = permute(state.words[2 * half], state.words[2 * half + 1], own);
    return *reinterpret_cast<const BlockWords*>(tables_ + ((moved & 0xff00) | own) + 128 * half);
  }

 private:
  const char* tables_;
  std::uint32_t own_[8];
};

// A round of tables, then a key.
template <class Lookup>
GPUAES_HD inline BlockWords look_up(const BlockWords& state, const BlockWords& key, const Lookup& lookup) {
  BlockWords sum = key;
  GPUAES_UNROLL
  for (unsigned step = 0; step < 16; ++step) sum = add(sum, lookup.entry(state, step));
  return sum;
}

// One block, with all round keys in registers.
template <class Lookup>
GPUAES_HD inline BlockWords encrypt(BlockWords block, const BlockWords (&keys)[rounds + 1],
                                    const Lookup& lookup) {
  block = add(block, keys[0]);
  GPUAES_UNROLL
  for (unsigned round = 1; round <= rounds; ++round) block = look_up(block, keys[round], lookup);
  return block;
}

// `count` blocks side by side, which hide each other's waits and share the loads of round keys, which are
// those of make_key_words().
template <unsigned count, class Memory>
GPUAES_HD inline void encrypt(BlockWords (&blocks)[count], const std::uint32_t* round_keys,
                              const Memory& memory) {
  GPUAES_UNROLL
  for (unsigned k = 0; k < count; ++k) blocks[k] = add(blocks[k], key_of(round_keys, 0));
  GPUAES_NO_UNROLL
  for (unsigned round = 1; round <= rounds; ++round) {
    const BlockWords key = key_of(round_keys, round);
    GPUAES_UNROLL
    for (unsigned k = 0; k < count; ++k) blocks[k] = look_up(blocks[k], key, InOrder<Memory>{memory});
  }
}

}  // namespace gpuaes::kuznyechik
