// GHASH (NIST SP 800-38D, sections 6.3 and 6.4), as run by a GPU thread; the host runs the same code. It uses
// no tables, and no branch or memory address depends on key or data.
//
// The field. A block is a polynomial over GF(2), and its coefficient of x^0 is the first bit of the first
// byte. Read as a big-endian number, the block has coefficient k in bit 127 - k. The carry-less product of
// two such numbers has coefficient k in bit 254 - k, while the position in a 256-bit number is bit 255 - k:
// it is the product times x. The fixed factor is therefore stored divided by x, which avoids a shift.
//
// Carry-less multiplication by integer multiplication. The masks 0x11111111 << i split a word into four
// parts, each with one bit in four. A product of two parts counts, in groups of 4 bits, how many pairs of
// bits meet. There are at most 8 pairs, so groups do not overflow, and the lowest bit of each group is the
// carry-less product. For parts i and j, it is in the bits whose number is i + j modulo 4, the class of the
// product. A product of 32 x 32 bits therefore takes 16 multiplications, four in each class, which are then
// added without carry. Two levels of Karatsuba need 9 products of words for 4 by 4 words.
//
// Additions in a multiply-add are free, so some of these sums are made with carry. A product with i + j < 4
// counts at most 8, 7 and 7 pairs in groups 7, 6 and 8, and one with i + j >= 4 (one group higher) in groups
// 8, 7 and 9. The sum of two such products is at most 15, which still fits in a group. Two products of the
// same kind could reach 16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/host_device.hpp"
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

// A word, split by the four masks.
struct Parts {
  std::uint32_t of[4];
};

GPUAES_HD inline Parts split(std::uint32_t word) {
  return {{word & 0x11111111u, word & 0x22222222u, word & 0x44444444u, word & 0x88888888u}};
}

// The 64-bit product x y. If it is written in C++, nvcc moves the widening of a loop's fixed factor out of
// the loop and then multiplies 64 x 32 bits in it, which takes many more instructions.
GPUAES_HD inline std::uint64_t widening_product(std::uint32_t x, std::uint32_t y) {
#ifdef __CUDA_ARCH__
  std::uint64_t product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(x), "r"(y));
  return product;
#else
  return std::uint64_t{x} * y;
#endif
}

// The carry-less product of two words.
GPUAES_HD inline std::uint64_t multiply(const Parts& x, const Parts& y) {
  const auto product = [&](int i, int j) { return widening_product(x.of[i], y.of[j]); };
  const std::uint64_t class_0 = (product(0, 0) + product(1, 3)) ^ product(2, 2) ^ product(3, 1);
  const std::uint64_t class_1 = (product(0, 1) + product(2, 3)) ^ (product(1, 0) + product(3, 2));
  const std::uint64_t class_2 = (product(0, 2) + product(3, 3)) ^ product(1, 1) ^ product(2, 0);
  const std::uint64_t class_3 = product(0, 3) ^ product(1, 2) ^ product(2, 1) ^ product(3, 0);
  const auto choose = [](std::uint64_t mask, std::uint64_t a, std::uint64_t b) {
    return (a & mask) | (b & ~mask);
  };
  constexpr std::uint64_t even = 0x5555555555555555, low_half = 0x3333333333333333;
  return choose(low_half, choose(even, class_0, class_1), choose(even, class_2, class_3));
}

// A fixed factor, prepared for multiplication. As secret as the element that it was made from.
class Multiplier {
 public:
  GPUAES_HD explicit Multiplier(const Element& factor) {
    // Division by x moves bits up by one. Coefficient 0, shifted out at the top, becomes x^-1 = x^127 + x^6 +
    // x + 1.
    const std::uint32_t *w = factor.words, out = 0u - (w[3] >> 31);
    const std::uint32_t y[4] = {w[0] << 1 ^ (out & 1), w[1] << 1 | w[0] >> 31, w[2] << 1 | w[1] >> 31,
                                (w[3] << 1 | w[2] >> 31) ^ (out & 0xc2000000)};
    const std::uint32_t sum_02 = y[0] ^ y[2], sum_13 = y[1] ^ y[3];
    const std::uint32_t operands[9] = {y[0],        y[1],   y[0] ^ y[1], y[2],           y[3],
                                       y[2] ^ y[3], sum_02, sum_13,      sum_02 ^ sum_13};
    for (int i = 0; i < 9; ++i) parts_[i] = split(operands[i]);
  }

  GPUAES_HD Element times(const Element& element) const {
    const std::uint32_t* x = element.words;
    const Product low = times_pair<0>(x[0], x[1]), high = times_pair<3>(x[2], x[3]),
                  both = times_pair<6>(x[0] ^ x[2], x[1] ^ x[3]);
    const std::uint32_t middle_0 = low.words[2] ^ high.words[0], middle_1 = low.words[3] ^ high.words[1];
    const std::uint32_t below[4] = {low.words[0], low.words[1], middle_0 ^ low.words[0] ^ both.words[0],
                                    middle_1 ^ low.words[1] ^ both.words[1]};
    const Element above{{middle_0 ^ high.words[2] ^ both.words[2], middle_1 ^ high.words[3] ^ both.words[3],
                         high.words[2], high.words[3]}};
    return fold(above, below);
  }

 private:
  struct Product {
    std::uint32_t words[4];
  };

  // 64 x 64 bits from three products of 32 x 32 (Karatsuba).
  template <int first>
  GPUAES_HD Product times_pair(std::uint32_t x0, std::uint32_t x1) const {
    const std::uint64_t low = multiply(split(x0), parts_[first]),
                        high = multiply(split(x1), parts_[first + 1]),
                        both = multiply(split(x0 ^ x1), parts_[first + 2]);
    const auto lower = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    const auto upper = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
    const std::uint32_t middle = upper(low) ^ lower(high);
    return {{lower(low), middle ^ lower(low) ^ lower(both), middle ^ upper(high) ^ upper(both), upper(high)}};
  }

  // above + below x^128, where x^128 = x^7 + x^2 + x + 1. Multiplication by x moves bits down by one. Up to 7
  // bits are shifted out of word 0. They are again coefficients of x^128 and above, so they are added at the
  // top of `below`.
  GPUAES_HD static Element fold(const Element& above, const std::uint32_t below[4]) {
    const std::uint32_t again = below[0] << 31 ^ below[0] << 30 ^ below[0] << 25;
    const std::uint32_t w[5] = {below[0], below[1], below[2], below[3] ^ again, 0};
    Element result{};
    for (int i = 0; i < 4; ++i)
      result.words[i] = above.words[i] ^ w[i] ^ shift(w[i + 1], w[i], 1) ^ shift(w[i + 1], w[i], 2) ^
                        shift(w[i + 1], w[i], 7);
    return result;
  }
  GPUAES_HD static std::uint32_t shift(std::uint32_t high, std::uint32_t low, int bits) {
    return low >> bits | high << (32 - bits);
  }

  Parts parts_[9];  // of words 0, 1, 0 + 1; 2, 3, 2 + 3; 0 + 2, 1 + 3, and the sum of all
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
// data.fetch(i) loads block i from memory, and data.block(fetched, i) converts it to an element. The next
// block is fetched one multiplication before it is needed, to hide memory latency.
template <class Data>
GPUAES_HD Element thread_share(unsigned thread, unsigned threads, unsigned blocks,
                               const Multiplier& stride_power, const Element& own_power, const Data& data) {
  if (blocks == 0) return {};
  const unsigned padding = (threads - blocks % threads) % threads;
  const auto fetch = [&](unsigned at) { return data.fetch(at < blocks ? at : blocks - 1); };
  Element sum{};
  if (thread >= padding) sum = data.block(fetch(thread - padding), thread - padding);
  unsigned at = thread + threads - padding;
  for (auto fetched = fetch(at); at < blocks; at += threads) {
    const auto next = fetch(at + threads);
    sum = add(multiply(sum, stride_power), data.block(fetched, at));
    fetched = next;
  }
  return multiply(sum, Multiplier(own_power));
}

}  // namespace gpuaes::ghash
