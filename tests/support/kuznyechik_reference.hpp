// Kuznyechik as in the standard (RFC 7801), a block at a time, with which faster code is compared.
#pragma once

#include <cstdint>

#include "cipher/kuznyechik/kuznyechik.hpp"

namespace gpuaes::kuznyechik {

inline constexpr Substitution inverse_pi = invert(pi);

// The transformations of section 4.2.
constexpr Block substitute(Block block, const Substitution& substitution = pi) {  // S, or its inverse
  for (std::uint8_t& byte : block) byte = substitution[byte];
  return block;
}

// The inverse of R. The last coefficient is 1, so adding the other products to byte 0 yields the byte that R
// removed.
constexpr Block shift_out(const Block& block) {
  Block shifted{};
  for (unsigned i = 0; i < 15; ++i) shifted[i] = block[i + 1];
  shifted[15] = block[0];
  for (unsigned i = 0; i < 15; ++i) shifted[15] ^= products[i][shifted[i]];
  return shifted;
}

constexpr Block unmix(Block block) {  // the inverse of L
  for (int i = 0; i < 16; ++i) block = shift_out(block);
  return block;
}

// Section 4.4.
constexpr Block encrypt(const RoundKeys& keys, Block block) {
  for (unsigned round = 0; round < rounds; ++round) block = mix(substitute(add(block, keys.of[round])));
  return add(block, keys.of[rounds]);
}

constexpr Block decrypt(const RoundKeys& keys, Block block) {
  block = add(block, keys.of[rounds]);
  for (unsigned round = rounds; round-- > 0;)
    block = add(substitute(unmix(block), inverse_pi), keys.of[round]);
  return block;
}

}  // namespace gpuaes::kuznyechik
