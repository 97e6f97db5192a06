// Functions of three bits, of which a GPU does any on 32 bits at once with one instruction (LOP3): what
// circuits of bitsliced code are made of.
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"

namespace gpuaes {

// A function of three bits, on 32 of each. Bit 4a + 2b + c of `table` is its value.
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

}  // namespace gpuaes
