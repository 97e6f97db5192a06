// The tags of a job's segments: 128 threads take a segment, each of them every 128th block
// (cipher/modes/ghash.hpp). No table, and no branch or address that depends on key or data; what is branched
// on in the end is the verdict, which is public. One warp for a segment, or two, make 2 to 3 % more of 1 GiB,
// but 0.6 and 0.85 of the speed in launches of 4 MiB, which do not have enough segments to hide what a
// multiplication waits for.
#pragma once

#include "cipher/modes/ghash.hpp"
#include "cipher/modes/segments.hpp"
#include "cipher/modes/tiles.hpp"
#include "kernels/device.cuh"
#include "kernels/kernels.hpp"
#include "kernels/tags.cuh"

namespace gpuaes::cuda {

constexpr unsigned tag_threads = 128, tag_warps = tag_threads / warp_lanes;
constexpr unsigned warp_sums_bytes = tag_warps * sizeof(ghash::Element);

// GHASH of all blocks from the sums of all warps, and the tag from it.
__device__ inline uint4 make_tag(const ghash::Element* warp_sums, const ghash::Lengths& lengths,
                                 const ghash::Element& h, const uint4& mask) {
  ghash::Element sum = lengths.last_block();
  for (unsigned warp = 0; warp < tag_warps; ++warp) sum = ghash::add(sum, warp_sums[warp]);
  std::uint32_t words[4];
  ghash::store(ghash::multiply(sum, ghash::Multiplier(h)), words);
  return {words[0] ^ mask.x, words[1] ^ mask.y, words[2] ^ mask.z, words[3] ^ mask.w};
}

// Writes the tags behind the ciphertexts, or compares them.
static __global__ void __launch_bounds__(tag_threads)
    tag_kernel(const ghash::Powers* powers, PublicData aad, Segments segments, std::byte* sealed,
               const uint4* masks, std::uint32_t* first_bad) {
  extern __shared__ uint4 tag_memory[];
  auto* const warp_sums = reinterpret_cast<ghash::Element*>(tag_memory);
  const unsigned thread = threadIdx.x, warp_lane = thread % warp_lanes, warp = thread / warp_lanes;
  let_later_begin();
  const ghash::Multiplier stride(powers->of[tag_threads - 1]);
  wait_for_earlier();
  for (std::uint64_t segment = blockIdx.x; segment < segments.count; segment += gridDim.x) {
    std::byte* const ciphertext = sealed + segment * sealed_segment_bytes;
    const ghash::Lengths lengths{aad.size, segments.plain_bytes(segment)};
    const ghash::Element sum = sum_of_warp(
        ghash::thread_share(thread, tag_threads, static_cast<unsigned>(lengths.data_blocks()), stride,
                            powers->of[tag_threads - 1 - thread], HashedBlocks{aad, lengths, ciphertext}));
    __syncthreads();  // the sums of the last segment have been read
    if (warp_lane == 0) warp_sums[warp] = sum;
    __syncthreads();
    if (warp != 0) continue;
    const uint4 tag = make_tag(warp_sums, lengths, powers->of[0], masks[segment]);
    finish_tag(tag, ciphertext + lengths.ciphertext_bytes, segment, first_bad, warp_lane);
  }
  __syncthreads();
  wipe_shared(tag_memory, warp_sums_bytes);
}

}  // namespace gpuaes::cuda
