// The carry-less product of numbers of 128 bits, for GHASH and MGM. It uses no tables, and no branch or
// memory address depends on the numbers.
//
// There are two ways: with clmad, an instruction of some GPUs (see uses_clmad()), and by integer
// multiplication, on other GPUs and on the host. The build defines GPUAES_CLMAD if ptxas knows clmad, which
// is new in PTX 9.3.
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

#include <cstdint>
#include <type_traits>

#include "cipher/host_device.hpp"

namespace gpuaes::carryless {

// A sum of products; words[0] is the least significant word, as in the factors.
struct Product {
  std::uint32_t words[8];
};

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

// A factor, prepared for integer multiplication. As secret as what it was made from.
class IntegerFactor {
 public:
  GPUAES_HD explicit IntegerFactor(const std::uint32_t y[4]) {
    const std::uint32_t sum_02 = y[0] ^ y[2], sum_13 = y[1] ^ y[3];
    const std::uint32_t operands[9] = {y[0],        y[1],   y[0] ^ y[1], y[2],           y[3],
                                       y[2] ^ y[3], sum_02, sum_13,      sum_02 ^ sum_13};
    for (int i = 0; i < 9; ++i) parts_[i] = split(operands[i]);
  }

  // Adds the product of this factor and x to `sum`.
  GPUAES_HD void add_product(const std::uint32_t x[4], Product& sum) const {
    const Pair low = times_pair<0>(x[0], x[1]), high = times_pair<3>(x[2], x[3]),
               both = times_pair<6>(x[0] ^ x[2], x[1] ^ x[3]);
    for (int i = 0; i < 4; ++i) {
      sum.words[i] ^= low.words[i];
      sum.words[i + 2] ^= low.words[i] ^ high.words[i] ^ both.words[i];
      sum.words[i + 4] ^= high.words[i];
    }
  }

 private:
  // A product of 64 x 64 bits.
  struct Pair {
    std::uint32_t words[4];
  };

  // 64 x 64 bits from three products of 32 x 32 (Karatsuba).
  template <int first>
  GPUAES_HD Pair times_pair(std::uint32_t x0, std::uint32_t x1) const {
    const std::uint64_t low = multiply(split(x0), parts_[first]),
                        high = multiply(split(x1), parts_[first + 1]),
                        both = multiply(split(x0 ^ x1), parts_[first + 2]);
    const auto lower = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    const auto upper = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
    const std::uint32_t middle = upper(low) ^ lower(high);
    return {{lower(low), middle ^ lower(low) ^ lower(both), middle ^ upper(high) ^ upper(both), upper(high)}};
  }

  Parts parts_[9];  // of words 0, 1, 0 + 1; 2, 3, 2 + 3; 0 + 2, 1 + 3, and the sum of all
};

// The lower half of the carry-less product of x and y, added to z; and the upper half.
GPUAES_HD inline std::uint64_t clmad_low(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
#ifdef __CUDA_ARCH__
  asm("clmad.lo.u64 %0, %1, %2, %0;" : "+l"(z) : "l"(x), "l"(y));
#else
  for (int i = 0; i < 64; ++i) z ^= y >> i & 1 ? x << i : 0;
#endif
  return z;
}
GPUAES_HD inline std::uint64_t clmad_high(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
#ifdef __CUDA_ARCH__
  asm("clmad.hi.u64 %0, %1, %2, %0;" : "+l"(z) : "l"(x), "l"(y));
#else
  for (int i = 1; i < 64; ++i) z ^= y >> i & 1 ? x >> (64 - i) : 0;
#endif
  return z;
}

// Two words as one, and back.
GPUAES_HD inline std::uint64_t join(const std::uint32_t words[2]) {
  return std::uint64_t{words[1]} << 32 | words[0];
}
GPUAES_HD inline void split(std::uint64_t joined, std::uint32_t words[2]) {
  words[0] = static_cast<std::uint32_t>(joined);
  words[1] = static_cast<std::uint32_t>(joined >> 32);
}

// A factor for multiplication with clmad. As secret as what it was made from.
class ClmadFactor {
 public:
  GPUAES_HD explicit ClmadFactor(const std::uint32_t y[4]) : low_(join(y)), high_(join(y + 2)) {}

  GPUAES_HD void add_product(const std::uint32_t x[4], Product& sum) const {
    const std::uint64_t low = join(x), high = join(x + 2);
    std::uint64_t of[4];
    for (int i = 0; i < 4; ++i) of[i] = join(sum.words + 2 * i);
    add(low, low_, of);
    add(low, high_, of + 1);
    add(high, low_, of + 1);
    add(high, high_, of + 2);
    for (int i = 0; i < 4; ++i) split(of[i], sum.words + 2 * i);
  }

 private:
  GPUAES_HD static void add(std::uint64_t x, std::uint64_t y, std::uint64_t sum[2]) {
    sum[0] = clmad_low(x, y, sum[0]);
    sum[1] = clmad_high(x, y, sum[1]);
  }

  std::uint64_t low_, high_;
};

// Whether code for a GPU architecture, given as the value of __CUDA_ARCH__, uses clmad. The instruction needs
// 800 or later, and runs on the units for 64-bit floating point. Most architectures have few of these, which
// makes integer multiplication about as fast.
constexpr bool uses_clmad([[maybe_unused]] int architecture) {
#ifdef GPUAES_CLMAD
  return architecture == 800 || architecture == 900 || architecture == 1000;
#else
  return false;
#endif
}

#if defined(__CUDA_ARCH__)
inline constexpr bool has_clmad = uses_clmad(__CUDA_ARCH__);
#elif defined(GPUAES_HOST_CLMAD)  // for tests
inline constexpr bool has_clmad = true;
#else
inline constexpr bool has_clmad = false;
#endif

using Factor = std::conditional_t<has_clmad, ClmadFactor, IntegerFactor>;

}  // namespace gpuaes::carryless
