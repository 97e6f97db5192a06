// GHASH (NIST SP 800-38D, sections 6.3 and 6.4), as one GPU thread does it; the host runs the same body. No
// tables, and no branch or address that depends on key or data.
//
// The field. A block is a polynomial over GF(2) whose coefficient of x^0 is the first bit of the first byte:
// read as a big-endian number, coefficient k is bit 127 - k. The carry-less product of two such numbers has
// coefficient k of the product in bit 254 - k, where a number of 256 bits should have it in bit 255 - k. As
// it stands it therefore is the product times x; so the fixed factor is held divided by x, and nothing has
// to be shifted.
//
// Carry-less multiplication by integer multiplication. A word is split in four by the masks 0x11111111 << i:
// one bit in four is left, and a product of two such parts counts, in groups of 4 bits, how many pairs of
// bits meet. Up to 8 pairs do, so no group runs over into the next, and the lowest bit of each group is the
// carry-less product. Part i by part j has it in the bits that are i + j modulo 4, the class of the product:
// 16 multiplications for 32 x 32 bits, in each class four, of which the sum without carry is wanted. Two
// levels of Karatsuba make 9 words by 9 words of 4 by 4.
//
// Sums that a multiply-add makes on its way cost nothing, so some of these sums are made with carry: a
// product with i + j < 4 counts at most 8, 7, 7 pairs in groups 7, 6, 8 and one with i + j >= 4 (one group
// further up) in groups 8, 7, 9; together they are 15 at most, which is still no carry. Two of a kind could
// make 16.
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

// From and to 16 bytes as a little-endian machine has them in 4 words.
GPUAES_HD inline Element load(const std::uint32_t memory[4]) {
  return {{swap_bytes(memory[3]), swap_bytes(memory[2]), swap_bytes(memory[1]), swap_bytes(memory[0])}};
}
GPUAES_HD inline void store(const Element& element, std::uint32_t memory[4]) {
  for (int i = 0; i < 4; ++i) memory[i] = swap_bytes(element.words[3 - i]);
}

// From and to bytes, of which those behind the first `size` are zero.
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

// x y of 64 bits. nvcc moves the widening of a loop's fixed factor out of the loop, and what is left in it is
// a product of 64 x 32 bits: 144 additions of 0 to a multiplication that has 360 instructions.
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

// A fixed factor, ready to multiply with. As secret as the element it was made from.
class Multiplier {
 public:
  GPUAES_HD explicit Multiplier(const Element& factor) {
    // Divided by x: one bit up. Coefficient 0, which comes out at the top, is x^-1 = x^127 + x^6 + x + 1.
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

  // 64 x 64 bits by three of 32 x 32 (Karatsuba).
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

  // above + below x^128, where x^128 = x^7 + x^2 + x + 1. Times x is one bit down; the at most 7 bits that
  // come out of word 0 are coefficients of x^128 and beyond once more, and so belong at the top of `below`.
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

  Parts parts_[9];  // of the words 0, 1, 0 + 1; 2, 3, 2 + 3; 0 + 2, 1 + 3, and all four
};

GPUAES_HD inline Element multiply(const Element& element, const Multiplier& factor) {
  return factor.times(element);
}

// H^1 to H^128, for that many threads; made once for a key, and as secret.
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

// What GCM hashes of a message (section 7.1, step 5): the blocks of the associated data, those of the
// ciphertext, either of them filled up with zeros, and the block of both lengths.
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

// One thread's share of GHASH of the `blocks` blocks of `data`; GHASH is the sum of the shares of n threads.
// Zero blocks in front, which change nothing, make the count a multiple of n. Then thread t takes blocks
// t, t + n, ..., and the last of them must be multiplied by H^(n - t), which is `own_power`. `stride_power`
// is H^n.
//
// data.fetch(i) loads block i from memory, and data.block(fetched, i) makes an element of it. The next block
// is fetched one multiplication before it is needed, so that no thread waits for memory.
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
