// What a device does at most of each of the things that ciphers take, measured.
#pragma once

#include <cstddef>

namespace gpuaes::cuda {

// A second, by the whole device, counting each thread of a warp. Loads are of shared memory.
struct DeviceLimits {
  double memory_bytes;         // read and written, in a copy from device memory to device memory
  double logic;                // functions of three words (LOP3)
  double multiplications;      // of two words to two, with an addition (IMAD.WIDE)
  double shuffles;             // words from one lane to another
  double loads_of_own_bank;    // words, each lane of a warp from a bank of its own
  double loads_of_256_words;   // words, each lane from any of 256: the table of a T-table
  double loads_of_256_bytes;   // bytes, each lane from any of 256: the S-box
  double loads_of_256_blocks;  // 16 bytes, each lane from any of 256 such: an LS table
};

// Of the device that is current; takes well below a second. What lies at `from` is copied to `to`, `size`
// bytes apart from it, which are more than its caches hold. LaneError.
DeviceLimits measure_limits(const std::byte* from, std::byte* to, std::size_t size);

}  // namespace gpuaes::cuda
