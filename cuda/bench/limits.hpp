// Measures a device's maximum rates of the operations that ciphers need.
#pragma once

#include <cstddef>

namespace gpuaes::cuda {

// Per second, on the whole device, counted per thread. Loads are from shared memory.
struct DeviceLimits {
  double memory_bytes;         // read and written by copies inside device memory
  double logic;                // functions of three words (LOP3)
  double multiplications;      // of two words to two, with an addition (IMAD.WIDE)
  double shuffles;             // words passed between the threads of a warp
  double loads_of_own_bank;    // words, each thread of a warp in its own bank
  double loads_of_256_words;   // words, each thread any of 256, as in a T-table
  double loads_of_256_bytes;   // bytes, each thread any of 256, as in the S-box
  double loads_of_256_blocks;  // 16 bytes, each thread any of 256 entries, as in an LS table
};

// Measures the current device. Copies `size` bytes, more than the caches hold, from `from` to `to`, which do
// not overlap. LaneError.
DeviceLimits measure_limits(const std::byte* from, std::byte* to, std::size_t size);

}  // namespace gpuaes::cuda
