// Common parts of the kernels that compute tags: their input, and writing or comparing a tag.
#pragma once

#include "cipher/modes/ghash.hpp"
#include "kernels/device.cuh"
#include "kernels/kernels.hpp"

namespace gpuaes::cuda {

// How many blocks a thread loads before it needs them. Multiplications with clmad are too short to hide the
// latency of memory; others need the registers.
constexpr unsigned blocks_ahead = carryless::has_clmad ? 4 : 1;

// The data that the tag of a segment authenticates, without the block of lengths: the blocks of the
// associated data, then those of the ciphertext, both padded with zeros.
struct HashedBlocks {
  const PublicData& aad;
  ghash::Lengths lengths;
  const std::byte* ciphertext;

  __device__ uint4 fetch(unsigned index) const {
    if (index < aad_blocks()) {
      const std::uint32_t* const words = aad.words + 4 * index;
      return {words[0], words[1], words[2], words[3]};
    }
    return *reinterpret_cast<const uint4*>(ciphertext + ciphertext_at(index));
  }
  __device__ ghash::Element block(const uint4& fetched, unsigned index) const {
    const std::uint32_t words[4] = {fetched.x, fetched.y, fetched.z, fetched.w};
    ghash::Element block = ghash::load(words);
    const unsigned rest = static_cast<unsigned>(lengths.ciphertext_bytes) - ciphertext_at(index);
    if (rest < 16)  // never true for associated data, where `rest` has wrapped around
      for (unsigned i = 0; i < 4; ++i) block.words[3 - i] &= leading_bytes(rest, 4 * i);
    return block;
  }

  __device__ unsigned aad_blocks() const { return static_cast<unsigned>(lengths.aad_blocks()); }
  __device__ unsigned ciphertext_at(unsigned index) const { return (index - aad_blocks()) * 16; }
  // A big-endian mask for the bytes `at` to `at + 3` of a block that has `size` bytes.
  __device__ static std::uint32_t leading_bytes(unsigned size, unsigned at) {
    const unsigned count = size < at ? 0 : size - at;
    return count >= 4 ? 0xffffffffu : ~(0xffffffffu >> 8 * count);
  }
};

__device__ inline ghash::Element sum_of_warp(ghash::Element sum) {
  for (unsigned distance = warp_lanes / 2; distance > 0; distance /= 2)
    for (std::uint32_t& word : sum.words) word ^= __shfl_xor_sync(0xffffffff, word, distance);
  return sum;
}

// Byte `index` of 16, without indexing registers.
__device__ inline std::uint8_t byte_of(const uint4& block, unsigned index) {
  const std::uint32_t low = index & 4 ? block.y : block.x, high = index & 4 ? block.w : block.z;
  return static_cast<std::uint8_t>((index & 8 ? high : low) >> 8 * (index & 3));
}

// Writes the tag of a segment to `stored`. If first_bad is not null, compares it with the bytes there
// instead, and lowers *first_bad to the segment if they differ. All threads of a warp must call it.
__device__ inline void finish_tag(const uint4& tag, std::byte* stored, std::uint64_t segment,
                                  std::uint32_t* first_bad, unsigned warp_lane) {
  auto* const bytes = reinterpret_cast<std::uint8_t*>(stored);
  if (first_bad == nullptr) {
    if (warp_lane < tag_bytes) bytes[warp_lane] = byte_of(tag, warp_lane);
    return;
  }
  const bool differs = warp_lane < tag_bytes && bytes[warp_lane] != byte_of(tag, warp_lane);
  if (__any_sync(0xffffffff, differs) && warp_lane == 0)
    atomicMin(first_bad, static_cast<std::uint32_t>(segment));
}

}  // namespace gpuaes::cuda
