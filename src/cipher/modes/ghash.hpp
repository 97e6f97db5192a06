// GHASH (NIST SP 800-38D, sections 6.3 and 6.4), as run by a GPU thread; the host runs the same code. It uses
// no tables, and no branch or memory address depends on key or data.
//
// The field. A block is a polynomial over GF(2), and its coefficient of x^0 is the first bit of the first
// byte. Read as a big-endian number, the block has coefficient k in bit 127 - k. The carry-less product of
// two such numbers has coefficient k in bit 254 - k, while the position in a 256-bit number is bit 255 - k:
// it is the product times x. The fixed factor is therefore stored divided by x, which avoids a shift.
#pragma once

#include <cstdint>
#include <span>

#include "cipher/host_device.hpp"
#include "cipher/modes/carryless_product.hpp"
#include "keys/secret.hpp"

namespace gpuaes::ghash {

// A field element: the big-endian number of its 16 bytes, words[3] the most significant.
struct Element {
  std::uint32_t words[4];
};

// Convert from and to 16 bytes in memory, which 4 little-endian words hold.
GPUAES_HD inline Element load(const std::uint32_t memory[4]) {
  return {{swap_bytes(memory[3]), swap_bytes(memory[2]), swap_bytes(memory[1]), swap_bytes(memory[0])}};
}
GPUAES_HD inline void store(const Element& element, std::uint32_t memory[4]) {
  for (int i = 0; i < 4; ++i) memory[i] = swap_bytes(element.words[3 - i]);
}

// Convert from and to bytes. The bytes after the first `size` count as zeros.
GPUAES_HD inline Element load_bytes(const std::uint8_t* bytes, unsigned size = 16) {
  Element element{};
  for (unsigned i = 0; i < size; ++i) element.words[3 - i / 4] |= std::uint32_t{bytes[i]} << (24 - i % 4 * 8);
  return element;
}
GPUAES_HD inline void store_bytes(const Element& element, std::uint8_t bytes[16]) {
  for (unsigned i = 0; i < 16; ++i)
    bytes[i] = static_cast<std::uint8_t>(element.words[3 - i / 4] >> (24 - i % 4 * 8));
}

GPUAES_HD inline Element add(const Element& a, const Element& b) {
  const std::uint32_t *x = a.words, *y = b.words;
  return {{x[0] ^ y[0], x[1] ^ y[1], x[2] ^ y[2], x[3] ^ y[3]}};
}

// A fixed factor, prepared for multiplication. As secret as the element that it was made from.
class Multiplier {
 public:
  GPUAES_HD explicit Multiplier(const Element& factor) : divided_(divide_by_x(factor).words) {}

  GPUAES_HD Element times(const Element& element) const {
    carryless::Product product{};
    divided_.add_product(element.words, product);
    if constexpr (carryless::has_clmad)
      return fold_with_clmad(product.words);
    else
      return fold(product.words);
  }

 private:
  // Division by x moves bits up by one. Coefficient 0, shifted out at the top, becomes x^-1 = x^127 + x^6 +
  // x + 1.
  GPUAES_HD static Element divide_by_x(const Element& element) {
    const std::uint32_t *const w = element.words, out = 0u - (w[3] >> 31);
    return {{w[0] << 1 ^ (out & 1), w[1] << 1 | w[0] >> 31, w[2] << 1 | w[1] >> 31,
             (w[3] << 1 | w[2] >> 31) ^ (out & 0xc2000000)}};
  }

  // The upper half of the words plus the lower half times x^128 = x^7 + x^2 + x + 1. Multiplication by x
  // moves bits down by one. Up to 7 bits are shifted out of word 0. They are again coefficients of x^128 and
  // above, so they are added at the top of the lower half.
  GPUAES_HD static Element fold(const std::uint32_t words[8]) {
    const std::uint32_t *const above = words + 4, again = words[0] << 31 ^ words[0] << 30 ^ words[0] << 25;
    const std::uint32_t w[5] = {words[0], words[1], words[2], words[3] ^ again, 0};
    Element result{};
    for (int i = 0; i < 4; ++i)
      result.words[i] =
          above[i] ^ w[i] ^ shift(w[i + 1], w[i], 1) ^ shift(w[i + 1], w[i], 2) ^ shift(w[i + 1], w[i], 7);
    return result;
  }
  // The same, 64 bits at a time. Each 64 bits are added to those 128 bits higher, and their product with x^7
  // + x^2 + x is added from 64 bits higher on.
  GPUAES_HD static Element fold_with_clmad(const std::uint32_t words[8]) {
    constexpr std::uint64_t lower_terms = 0xc200000000000000;
    std::uint64_t w[4];
    for (int i = 0; i < 4; ++i) w[i] = carryless::join(words + 2 * i);
    for (int i = 0; i < 2; ++i) {
      w[i + 1] = carryless::clmad_low(w[i], lower_terms, w[i + 1]);
      w[i + 2] = carryless::clmad_high(w[i], lower_terms, w[i + 2]) ^ w[i];
    }
    Element result{};
    for (int i = 0; i < 2; ++i) carryless::split(w[i + 2], result.words + 2 * i);
    return result;
  }
  GPUAES_HD static std::uint32_t shift(std::uint32_t high, std::uint32_t low, int bits) {
    return low >> bits | high << (32 - bits);
  }

  carryless::Factor divided_;
};

GPUAES_HD inline Element multiply(const Element& element, const Multiplier& factor) {
  return factor.times(element);
}

// H^1 to H^128, for up to 128 threads. Computed once per key, and as secret.
inline constexpr unsigned max_threads = 128;
struct Powers {
  Element of[max_threads];  // of[i] is H^(i + 1)
};

inline void make_powers(const Element& h, Powers& powers) {
  Multiplier factor(h);
  powers.of[0] = h;
  for (unsigned i = 1; i < max_threads; ++i) powers.of[i] = multiply(powers.of[i - 1], factor);
  wipe(std::as_writable_bytes(std::span(&factor, 1)));
}

// The input of GHASH for a GCM message (section 7.1, step 5): the blocks of the associated data and those of
// the ciphertext, each padded with zeros, and a block with both lengths.
struct Lengths {
  std::uint64_t aad_bytes;
  std::uint64_t ciphertext_bytes;

  GPUAES_HD std::uint64_t aad_blocks() const { return (aad_bytes + 15) / 16; }
  GPUAES_HD std::uint64_t data_blocks() const { return aad_blocks() + (ciphertext_bytes + 15) / 16; }
  GPUAES_HD Element last_block() const {
    const std::uint64_t aad_bits = 8 * aad_bytes, bits = 8 * ciphertext_bytes;
    return {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32),
             static_cast<std::uint32_t>(aad_bits), static_cast<std::uint32_t>(aad_bits >> 32)}};
  }
};

// One thread's share of GHASH over the `blocks` blocks of `data`; GHASH is the sum of the shares of n
// threads. Zero blocks in front, which change nothing, make the number of blocks a multiple of n. Thread t
// then takes blocks t, t + n, ..., and the last one must be multiplied by H^(n - t), which is `own_power`.
// `stride_power` is H^n.
//
// data.fetch(i) loads block i from memory, and data.block(fetched, i) converts it to an element. To hide
// memory latency, blocks are fetched `ahead` multiplications before they are needed.
template <unsigned ahead, class Data>
GPUAES_HD Element thread_share(unsigned thread, unsigned threads, unsigned blocks,
                               const Multiplier& stride_power, const Element& own_power, const Data& data) {
  if (blocks == 0) return {};
  const unsigned padding = (threads - blocks % threads) % threads;
  const auto fetch = [&](unsigned at) { return data.fetch(at < blocks ? at : blocks - 1); };
  const auto first = fetch(thread - padding);
  unsigned at = thread + threads - padding;
  decltype(data.fetch(0)) fetched[ahead];
  for (unsigned i = 0; i < ahead; ++i) fetched[i] = fetch(at + i * threads);
  Element sum{};
  if (thread >= padding) sum = data.block(first, thread - padding);
  while (at < blocks)
    for (unsigned i = 0; i < ahead && at < blocks; ++i, at += threads) {
      const auto next = fetch(at + ahead * threads);
      sum = add(multiply(sum, stride_power), data.block(fetched[i], at));
      fetched[i] = next;
    }
  return multiply(sum, Multiplier(own_power));
}

}  // namespace gpuaes::ghash
