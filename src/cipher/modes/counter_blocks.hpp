// The counter blocks of a job, for kernels that do not benefit from consecutive counters; other kernels use
// tiles (tiles.hpp). The host also runs this code. A class of counter blocks provides
//
//     count()               the number of counter blocks
//     counter_block(i)      the input of the cipher for a block of keystream
//     load(i)               the data to which the keystream is added
//     store(i, block)       stores the sum
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"
#include "cipher/modes/ctr.hpp"

namespace gpuaes {

// The 16 bytes of a block as little-endian words.
struct alignas(16) BlockWords {
  std::uint32_t words[4];
};

GPUAES_HD inline BlockWords block_words(const Counter& counter) {
  return {{swap_bytes(static_cast<std::uint32_t>(counter.high >> 32)),
           swap_bytes(static_cast<std::uint32_t>(counter.high)),
           swap_bytes(static_cast<std::uint32_t>(counter.low >> 32)),
           swap_bytes(static_cast<std::uint32_t>(counter.low))}};
}

GPUAES_HD inline Counter counter_of(const BlockWords& block) {
  return {std::uint64_t{swap_bytes(block.words[0])} << 32 | swap_bytes(block.words[1]),
          std::uint64_t{swap_bytes(block.words[2])} << 32 | swap_bytes(block.words[3])};
}

GPUAES_HD inline BlockWords add(const BlockWords& a, const BlockWords& b) {
  return {
      {a.words[0] ^ b.words[0], a.words[1] ^ b.words[1], a.words[2] ^ b.words[2], a.words[3] ^ b.words[3]}};
}

// Data under consecutive counters.
struct CtrBlocks {
  Counter counter;  // of the first block
  std::uint64_t blocks;
  const BlockWords* in;
  BlockWords* out;

  GPUAES_HD std::uint64_t count() const { return blocks; }
  GPUAES_HD BlockWords counter_block(std::uint64_t i) const { return block_words(counter + i); }
  GPUAES_HD BlockWords load(std::uint64_t i) const { return in[i]; }
  GPUAES_HD void store(std::uint64_t i, const BlockWords& block) const { out[i] = block; }
};

}  // namespace gpuaes
