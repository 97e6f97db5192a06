// Support for code that runs on GPUs and on the host: function attributes, and operations on words that are
// single instructions on GPUs. g++ compiles the same code for the host, so CI checks the logic of every
// kernel without a GPU.
#pragma once

#include <cstdint>

// nvcc unrolls loops with a constant number of iterations unless GPUAES_NO_UNROLL precedes them.
// GPUAES_UNROLL makes it unroll loops that it considers too long: an array can be in registers only if all
// its indices are constant.
#ifdef __CUDACC__
#define GPUAES_HD __host__ __device__
#define GPUAES_NO_UNROLL _Pragma("unroll 1")
#define GPUAES_UNROLL _Pragma("unroll")
#else
#define GPUAES_HD
#define GPUAES_NO_UNROLL
#define GPUAES_UNROLL
#endif

namespace gpuaes {

// Permutes bytes (PRMT). Hexadecimal digit i of `selector` selects byte i of the result: 0 to 3 from `low`, 4
// to 7 from `high`.
GPUAES_HD inline std::uint32_t permute(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(low, high, selector);
#else
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 32; i += 8)
    result |= static_cast<std::uint32_t>(bytes >> 8 * (selector >> i / 2 & 7) & 0xff) << i;
  return result;
#endif
}

GPUAES_HD inline std::uint32_t swap_bytes(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return __byte_perm(word, 0, 0x0123);
#else
  return word << 24 | (word & 0xff00) << 8 | (word >> 8 & 0xff00) | word >> 24;
#endif
}

// Any function of three bits (LOP3), applied to 32 of each: bit 4a + 2b + c of `table` is its value.
// Bitsliced circuits consist of these.
template <unsigned table>
GPUAES_HD inline std::uint32_t logic(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
#ifdef __CUDA_ARCH__
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(table));
  return result;
#else
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
#endif
}

GPUAES_HD inline std::uint32_t add(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return logic<0x96>(a, b, c);
}

// Transposes a matrix of 32 x 32 bits, for bitsliced code: bit i of word k becomes bit k of word i. This
// turns one word from each of 32 blocks into words with one bit from each block, and back. `w` has 32 words.
GPUAES_HD inline void transpose(std::uint32_t* w) {
  for (unsigned k = 0; k < 16; ++k) {
    const std::uint32_t low = w[k], high = w[k + 16];
    w[k] = permute(low, high, 0x5410);
    w[k + 16] = permute(low, high, 0x7632);
  }
  for (unsigned k = 0; k < 32; ++k) {
    if (k & 8) continue;
    const std::uint32_t low = w[k], high = w[k + 8];
    w[k] = permute(low, high, 0x6240);
    w[k + 8] = permute(low, high, 0x7351);
  }
  constexpr std::uint32_t lower[3] = {0x0f0f0f0f, 0x33333333, 0x55555555};
  for (unsigned step = 0; step < 3; ++step) {
    const unsigned distance = 4u >> step;
    for (unsigned k = 0; k < 32; ++k) {
      if (k & distance) continue;
      const std::uint32_t low = w[k], high = w[k + distance];
      w[k] = (low & lower[step]) | (high << distance & ~lower[step]);
      w[k + distance] = (low >> distance & lower[step]) | (high & ~lower[step]);
    }
  }
}

}  // namespace gpuaes
