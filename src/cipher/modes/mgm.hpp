// Steps of the Multilinear Galois Mode (MGM, RFC 9058) with Kuznyechik and 128-bit tags. No branch or memory
// address depends on key or data.
//
// The field is that of GCM, GF(2)[x] / (x^128 + x^7 + x^2 + x + 1), with a different order of bits: a block
// is a big-endian number whose bit k is the coefficient of x^k. Each block is multiplied by a factor of its
// own (section 4.1), so only the sum of all products must be reduced.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cipher/job.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/carryless_product.hpp"
#include "cipher/modes/ghash.hpp"
#include "keys/secret.hpp"

namespace gpuaes::mgm {

using ghash::Element;
using kuznyechik::Block;

using Product = carryless::Product;  // before reduction

// Adds a b to `sum`.
GPUAES_HD inline void add_product(const Element& a, const Element& b, Product& sum) {
  carryless::Factor(a.words).add_product(b.words, sum);
}

// x^128 = x^7 + x^2 + x + 1, so the upper half is added to the lower one four times, with different shifts.
// Up to 7 bits are shifted past the top of the lower half and reduced again.
GPUAES_HD inline Element reduce(const Product& product) {
  const std::uint32_t* const w = product.words;
  const std::uint32_t again = w[7] >> 31 ^ w[7] >> 30 ^ w[7] >> 25;
  const std::uint32_t above[5] = {0, w[4] ^ again, w[5], w[6], w[7]};
  Element result{};
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t high = above[i + 1], low = above[i];
    result.words[i] =
        w[i] ^ high ^ (high << 1 | low >> 31) ^ (high << 2 | low >> 30) ^ (high << 7 | low >> 25);
  }
  return result;
}

// A nonce has 127 bits. Encrypting it after a 0 bit yields the counter of the first block of keystream, and
// encrypting it after a 1 bit yields the counter of the first factor (section 4.1).
inline constexpr std::uint64_t highest_bit = std::uint64_t{1} << 63;
GPUAES_HD constexpr Counter counter_start(const Counter& nonce) {
  return {nonce.high & ~highest_bit, nonce.low};
}
GPUAES_HD constexpr Counter factor_start(const Counter& nonce) {
  return {nonce.high | highest_bit, nonce.low};
}
constexpr Block counter_start(const Nonce& nonce) {
  return store_counter(counter_start(load_counter(nonce.bytes)));
}
constexpr Block factor_start(const Nonce& nonce) {
  return store_counter(factor_start(load_counter(nonce.bytes)));
}

// incr_r increments the right half of a block, and incr_l the left half, both without carry into the other
// half (section 3).
GPUAES_HD constexpr Counter next_counter(Counter block, std::uint64_t by = 1) {
  return {block.high, block.low + by};
}
GPUAES_HD constexpr Counter next_factor(Counter block, std::uint64_t by = 1) {
  return {block.high + by, block.low};
}

// The last block to be multiplied: both lengths in bits.
constexpr Block lengths(std::size_t aad_bytes, std::size_t ciphertext_bytes) {
  return store_counter({8 * std::uint64_t{aad_bytes}, 8 * std::uint64_t{ciphertext_bytes}});
}

}  // namespace gpuaes::mgm
