// Bitsliced Kuznyechik, as run by a GPU thread with the whole state in registers; the host runs the same
// code. Word p of a state holds bit p of 32 blocks, so one instruction processes all of them. There are no
// tables, and no memory address or branch depends on key or data.
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"
#include "cipher/kuznyechik/circuit.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/counter_blocks.hpp"

namespace gpuaes::kuznyechik {

inline constexpr unsigned slices = 32;  // blocks per word
inline constexpr unsigned block_bits = 128;

struct Slices {
  std::uint32_t words[block_bits];
};

inline constexpr unsigned key_slices = (rounds + 1) * block_bits;

// Round keys, expanded for addition: all bits of a word equal one bit of the key, in the circuit's basis.
struct alignas(16) KeySlices {
  std::uint32_t words[key_slices];
};

// Byte i is a mask of the bits of a byte in the standard's basis whose sum is bit i in the circuit's basis.
constexpr std::uint64_t make_summands() {
  std::uint64_t summands = 0;
  for (unsigned from = 0; from < 8; ++from)
    for (unsigned to = 0; to < 8; ++to)
      summands |= std::uint64_t{to_circuit[1u << from] >> to & 1u} << (8 * to + from);
  return summands;
}
inline constexpr std::uint64_t summands = make_summands();

// Word `index` of KeySlices. `round_keys` has the bytes of RoundKeys as words.
GPUAES_HD inline std::uint32_t key_slice(const std::uint32_t* round_keys, unsigned index) {
  const auto counted = static_cast<std::uint32_t>(summands >> 8 * (index % 8) & 0xff);
  std::uint32_t sum = round_keys[index / slices] >> index / 8 % 4 * 8 & counted;
  sum ^= sum >> 4;
  sum ^= sum >> 2;
  sum ^= sum >> 1;
  return 0u - (sum & 1u);
}

// Convert blocks to the state in the circuit's basis, and back. Words 32k to 32k + 31 hold word k of all
// blocks.
GPUAES_HD inline void slice(Slices& state) {
  GPUAES_UNROLL
  for (unsigned word = 0; word < 4; ++word) transpose(state.words + slices * word);
  GPUAES_UNROLL
  for (unsigned byte = 0; byte < 16; ++byte) to_circuit_basis(state.words + 8 * byte);
}
GPUAES_HD inline void unslice(Slices& state) {
  GPUAES_UNROLL
  for (unsigned byte = 0; byte < 16; ++byte) from_circuit_basis(state.words + 8 * byte);
  GPUAES_UNROLL
  for (unsigned word = 0; word < 4; ++word) transpose(state.words + slices * word);
}

GPUAES_HD inline void add_key(Slices& state, const std::uint32_t* key) {
  GPUAES_UNROLL
  for (unsigned i = 0; i < block_bits; ++i) state.words[i] ^= key[i];
}

// RFC 7801, section 4.4.
GPUAES_HD inline void encrypt(Slices& state, const KeySlices& keys) {
  GPUAES_NO_UNROLL
  for (unsigned round = 0; round < static_cast<unsigned>(rounds); ++round) {
    add_key(state, keys.words + round * block_bits);
    GPUAES_UNROLL
    for (unsigned byte = 0; byte < 16; ++byte) substitute(state.words + 8 * byte);
    mix(state.words);
  }
  add_key(state, keys.words + rounds * block_bits);
}

}  // namespace gpuaes::kuznyechik
