// Kuznyechik with vector instructions: many blocks at once, and no address and no branch that depends on key
// or data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/kuznyechik/bitslice.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"

namespace gpuaes::kuznyechik {

inline constexpr std::size_t widest_vector = 32;   // bytes, of those that look up
inline constexpr std::size_t largest_batch = 512;  // blocks, of bitsliced code

// A round key for all blocks of a vector, split (kuznyechik_nibbles.hpp).
struct SpreadKey {
  alignas(widest_vector) std::array<std::array<std::uint8_t, widest_vector>, 16> of;
};
struct SpreadKeys {
  std::array<SpreadKey, rounds + 1> of;
};

// The round keys as each code adds them. As secret as the key.
struct VectorKeys {
  SpreadKeys spread;
  KeySlices slices;
};
void prepare(const RoundKeys& keys, VectorKeys& prepared);

// A set of instructions, and what enciphers `blocks` blocks in their place with them.
struct VectorCode {
  const char* name;
  std::size_t blocks;
  bool (*is_here)();  // whether this CPU has them
  void (*encrypt)(const VectorKeys& keys, Block* blocks);
};

// All that this program was built with, the fastest first: bitsliced code, which does hundreds of blocks in
// the time of one; and that which looks up 16 entries in registers, for few.
std::span<const VectorCode> sliced_codes();
std::span<const VectorCode> lookup_codes();

// Either may be missing.
struct VectorCodes {
  const VectorCode* batches = nullptr;  // for as many blocks as it does at once
  const VectorCode* rest = nullptr;     // for what is left of them
};

// The fastest that this CPU has.
VectorCodes find_vector_codes();

}  // namespace gpuaes::kuznyechik
