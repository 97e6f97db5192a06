// Kuznyechik with vector instructions: many blocks at once, and no address and no branch that depends on key
// or data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/kuznyechik.hpp"

namespace gpuaes::kuznyechik {

inline constexpr std::size_t widest_vector = 32;  // bytes

// A round key for all blocks of a vector, split (kuznyechik_nibbles.hpp). As secret as the key.
struct SpreadKey {
  alignas(widest_vector) std::array<std::array<std::uint8_t, widest_vector>, 16> of;
};
struct SpreadKeys {
  std::array<SpreadKey, rounds + 1> of;
};
void spread(const RoundKeys& keys, SpreadKeys& spread);

// A set of instructions, and what enciphers `blocks` blocks in their place with them.
struct VectorCode {
  const char* name;
  std::size_t blocks;
  bool (*is_here)();  // whether this CPU has them
  void (*encrypt)(const SpreadKeys& keys, Block* blocks);
};

// All that this program was built with, the fastest first.
std::span<const VectorCode> vector_codes();

// The fastest that this CPU has; none where it has none.
const VectorCode* find_vector_code();

}  // namespace gpuaes::kuznyechik
