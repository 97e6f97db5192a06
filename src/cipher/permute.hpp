// Permutations of bytes, which GPUs do with one instruction (PRMT).
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"

namespace gpuaes {

// Byte i of the result is the byte that hexadecimal digit i of `selector` names: 0 to 3 in `low`, 4 to 7 in
// `high`.
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

}  // namespace gpuaes
