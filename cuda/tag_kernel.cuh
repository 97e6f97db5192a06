// The tags of a job's segments: 128 threads take a segment, each of them every 128th block
// (cipher/ghash.hpp). No table, and no branch or address that depends on key or data; what is branched on in
// the end is the verdict, which is public. One warp for a segment, or two, make 2 to 3 % more of 1 GiB, but
// 0.6 and 0.85 of the speed in launches of 4 MiB, which do not have enough segments to hide what a
// multiplication waits for.
#pragma once

#include "cipher/ghash.hpp"
#include "cipher/segments.hpp"
#include "cipher/tiles.hpp"
#include "device.cuh"
#include "kernels.hpp"

namespace gpuaes::cuda {

constexpr unsigned tag_threads = 128, tag_warps = tag_threads / warp_lanes;
constexpr unsigned shares_bytes = tag_warps * sizeof(ghash::Element);

// What is hashed of one segment, save the block of lengths: ghash::lane_share() asks for it.
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
    if (rest < 16)  // not so for associated data: it is negative there
      for (unsigned i = 0; i < 4; ++i) block.words[3 - i] &= leading_bytes(rest, 4 * i);
    return block;
  }

  __device__ unsigned aad_blocks() const { return static_cast<unsigned>(lengths.aad_blocks()); }
  __device__ unsigned ciphertext_at(unsigned index) const { return (index - aad_blocks()) * 16; }
  // A mask for the bytes `at` to `at + 3` of a block, big-endian, of which the first `size` count.
  __device__ static std::uint32_t leading_bytes(unsigned size, unsigned at) {
    const unsigned count = size < at ? 0 : size - at;
    return count >= 4 ? 0xffffffffu : ~(0xffffffffu >> 8 * count);
  }
};

// Byte `index` of 16.
__device__ inline std::uint8_t byte_of(const uint4& block, unsigned index) {
  const std::uint32_t low = index & 4 ? block.y : block.x, high = index & 4 ? block.w : block.z;
  return static_cast<std::uint8_t>((index & 8 ? high : low) >> 8 * (index & 3));
}

__device__ inline ghash::Element sum_of_warp(ghash::Element sum) {
  for (unsigned distance = warp_lanes / 2; distance > 0; distance /= 2)
    for (std::uint32_t& word : sum.words) word ^= __shfl_xor_sync(0xffffffff, word, distance);
  return sum;
}

// GHASH of all blocks out of the shares of all warps, and the tag of it.
__device__ inline uint4 make_tag(const ghash::Element* shares, const ghash::Lengths& lengths,
                                 const ghash::Element& h, const uint4& mask) {
  ghash::Element sum = lengths.last_block();
  for (unsigned warp = 0; warp < tag_warps; ++warp) sum = ghash::add(sum, shares[warp]);
  std::uint32_t words[4];
  ghash::store(ghash::multiply(sum, ghash::Multiplier(h)), words);
  return {words[0] ^ mask.x, words[1] ^ mask.y, words[2] ^ mask.z, words[3] ^ mask.w};
}

// Writes the tags behind the ciphertexts; or, where `first_bad` is there, compares them and lowers it to the
// first segment whose tag is wrong.
static __global__ void __launch_bounds__(tag_threads)
    tag_kernel(const ghash::Powers* powers, PublicData aad, Segments segments, std::byte* sealed,
               const uint4* masks, std::uint32_t* first_bad) {
  extern __shared__ uint4 tag_memory[];
  auto* const shares = reinterpret_cast<ghash::Element*>(tag_memory);  // of the warps
  const unsigned thread = threadIdx.x, lane = thread % warp_lanes, warp = thread / warp_lanes;
  let_later_begin();
  const ghash::Multiplier stride(powers->of[tag_threads - 1]);
  wait_for_earlier();
  for (std::uint64_t segment = blockIdx.x; segment < segments.count; segment += gridDim.x) {
    std::byte* const ciphertext = sealed + segment * sealed_segment_bytes;
    const ghash::Lengths lengths{aad.size, segments.plain_bytes(segment)};
    const ghash::Element share = sum_of_warp(
        ghash::lane_share(thread, tag_threads, static_cast<unsigned>(lengths.data_blocks()), stride,
                          powers->of[tag_threads - 1 - thread], HashedBlocks{aad, lengths, ciphertext}));
    __syncthreads();  // the shares of the last segment have been read
    if (lane == 0) shares[warp] = share;
    __syncthreads();
    if (warp != 0) continue;
    const uint4 tag = make_tag(shares, lengths, powers->of[0], masks[segment]);
    auto* const place = reinterpret_cast<std::uint8_t*>(ciphertext + lengths.ciphertext_bytes);
    if (first_bad == nullptr) {
      if (lane < tag_bytes) place[lane] = byte_of(tag, lane);
    } else {
      const bool differs = lane < tag_bytes && place[lane] != byte_of(tag, lane);
      if (__any_sync(0xffffffff, differs) && lane == 0)
        atomicMin(first_bad, static_cast<std::uint32_t>(segment));
    }
  }
  __syncthreads();
  wipe_shared(tag_memory, shares_bytes);
}

}  // namespace gpuaes::cuda
