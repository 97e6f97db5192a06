// Arithmetic of Poly1305 (RFC 8439, section 2.5), for host and device: numbers modulo 2^130 - 5 in five limbs
// of 26 bits, which may exceed 26 bits slightly between operations. No branch or memory access depends on
// secrets.
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"

namespace gpuaes::poly1305 {

inline constexpr std::uint32_t limb_mask = (1u << 26) - 1;

struct Number {
  std::uint32_t limbs[5];
};

// The 16 bytes in four little-endian words, with 2^128 added if it is a whole block of the message.
GPUAES_HD inline Number load(const std::uint32_t* words, bool whole_block) {
  const std::uint64_t low = words[0] | std::uint64_t{words[1]} << 32;
  const std::uint64_t high = words[2] | std::uint64_t{words[3]} << 32;
  return {{static_cast<std::uint32_t>(low) & limb_mask, static_cast<std::uint32_t>(low >> 26) & limb_mask,
           static_cast<std::uint32_t>(low >> 52 | high << 12) & limb_mask,
           static_cast<std::uint32_t>(high >> 14) & limb_mask,
           static_cast<std::uint32_t>(high >> 40) | (whole_block ? 1u << 24 : 0)}};
}

// r: the first half of the one-time key, with some bits cleared (section 2.5.1).
GPUAES_HD inline Number load_clamped(const std::uint32_t* words) {
  const std::uint32_t clamped[4] = {words[0] & 0x0fffffff, words[1] & 0x0ffffffc, words[2] & 0x0ffffffc,
                                    words[3] & 0x0ffffffc};
  return load(clamped, false);
}

GPUAES_HD inline Number add(const Number& a, const Number& b) {
  Number sum;
  for (unsigned i = 0; i < 5; ++i) sum.limbs[i] = a.limbs[i] + b.limbs[i];
  return sum;
}

// A sum of products or numbers before reduction.
struct Product {
  std::uint64_t columns[5];
};

// The result has limbs of 26 bits, except that the second may be slightly larger.
GPUAES_HD inline Number reduce(const Product& product) {
  Number number;
  std::uint64_t carry = 0;
  for (unsigned i = 0; i < 5; ++i) {
    const std::uint64_t column = product.columns[i] + carry;
    number.limbs[i] = static_cast<std::uint32_t>(column) & limb_mask;
    carry = column >> 26;
  }
  const std::uint64_t first = number.limbs[0] + carry * 5;
  number.limbs[0] = static_cast<std::uint32_t>(first) & limb_mask;
  number.limbs[1] += static_cast<std::uint32_t>(first >> 26);
  return number;
}

GPUAES_HD inline void add_number(const Number& number, Product& sum) {
  for (unsigned i = 0; i < 5; ++i) sum.columns[i] += number.limbs[i];
}

// Adds a * b. Takes limbs of up to 28 bits in `a` and 27 in `b`, and up to 8 products in a sum.
GPUAES_HD inline void add_product(const Number& a, const Number& b, Product& sum) {
  for (unsigned i = 0; i < 5; ++i)
    for (unsigned j = 0; j < 5; ++j) {
      const std::uint64_t factor = i + j < 5 ? b.limbs[j] : 5u * b.limbs[j];  // 2^130 is 5
      sum.columns[(i + j) % 5] += a.limbs[i] * factor;
    }
}

GPUAES_HD inline Number multiply(const Number& a, const Number& b) {
  Product product{};
  add_product(a, b, product);
  return reduce(product);
}

// The tag: (number mod 2^130 - 5) + s mod 2^128, in four words. `s` is the second half of the one-time key.
GPUAES_HD inline void finish(Number number, const std::uint32_t* s, std::uint32_t* tag) {
  for (unsigned pass = 0; pass < 2; ++pass) {
    std::uint32_t carry = 0;
    for (unsigned i = 0; i < 5; ++i) {
      number.limbs[i] += carry;
      carry = number.limbs[i] >> 26;
      number.limbs[i] &= limb_mask;
    }
    number.limbs[0] += carry * 5;
  }
  // Below 2^130 now. Adding 5 carries out of bit 129 if it is at least 2^130 - 5, and then 2^130 - 5 is
  // subtracted.
  Number less;
  std::uint32_t carry = 5;
  for (unsigned i = 0; i < 5; ++i) {
    less.limbs[i] = number.limbs[i] + carry;
    carry = less.limbs[i] >> 26;
    less.limbs[i] &= limb_mask;
  }
  const std::uint32_t mask = 0u - carry;
  std::uint32_t* const n = number.limbs;
  for (unsigned i = 0; i < 5; ++i) n[i] = (n[i] & ~mask) | (less.limbs[i] & mask);
  const std::uint32_t words[4] = {n[0] | n[1] << 26, n[1] >> 6 | n[2] << 20, n[2] >> 12 | n[3] << 14,
                                  n[3] >> 18 | n[4] << 8};
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    sum = (sum >> 32) + words[i] + s[i];
    tag[i] = static_cast<std::uint32_t>(sum);
  }
}

}  // namespace gpuaes::poly1305
