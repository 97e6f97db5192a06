// Kuznyechik encryption with LS tables, as run by a GPU thread; the host runs the same code. Memory addresses
// depend on key and data.
//
// L is linear, so L S of a block is the sum of the contributions of its bytes: 16 lookups of 16 bytes per
// round, with one table for each byte.
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

// 64 KiB. Entry 256 i + b is the contribution of byte i of a block if its value is b.
struct LsTables {
  BlockWords entries[ls_entries];
};

// The tables of a linear map that follows a substitution of each byte.
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

// Round keys as words, in the order of the rounds.
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

// A Lookup provides entry(state, step), which returns the 16 entries of a round for steps 0 to 15, in any
// order.

// Lookups in tables in the layout of LsTables. Memory provides entry(index).
template <class Memory>
struct InOrder {
  const Memory& memory;
  GPUAES_HD BlockWords entry(const BlockWords& state, unsigned step) const {
    return memory.entry(256 * step + (state.words[step / 4] >> 8 * (step % 4) & 0xff));
  }
};

// Moves entry 256 i + b to index 16 b + i.
constexpr LsTables interleave(const LsTables& tables) {
  LsTables moved{};
  for (unsigned i = 0; i < ls_entries; ++i) moved.entries[i % 256 * 16 + i / 256] = tables.entries[i];
  return moved;
}

// Shared memory serves 8 threads at a time with 16 bytes each, from 8 groups of 4 banks. Here, the 16 entries
// for a value of a byte are contiguous, so each of the first 8 tables has its own bank group, and so has each
// of the last 8. Each of 8 threads uses the tables in a different order, which prevents bank conflicts for
// all values: it starts at a different one of the first 8 tables and goes around them, then does the same
// with the last 8. The byte of a step is therefore in one of two words of the state.
//
// 16 times the number of a table is both the offset of its entry and the selector that moves the byte to its
// position in an address. (The number is a sum because nvcc would compute an XOR with the lane again for each
// lookup.)
class Interleaved {
 public:
  // `tables`: from interleave(), aligned to 16 bytes.
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

// The lookups of a round and the addition of the next round key.
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

// `count` blocks at a time, which hide each other's latency and share the loads of round keys. `round_keys`
// is from make_key_words().
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
