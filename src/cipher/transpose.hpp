// Swaps rows and columns of a matrix of 32 x 32 bits, for bitsliced code: from one word of 32 blocks to one
// bit of all of them in each word, and back.
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"
#include "cipher/permute.hpp"

namespace gpuaes {

// Bit i of word k becomes bit k of word i. `w`: 32 words.
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
