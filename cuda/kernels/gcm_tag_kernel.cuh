// The tags of a job's segments: 128 threads share a segment, and each thread takes every 128th block
// (cipher/modes/ghash.hpp). No tables; no memory address or branch depends on key or data, except the final
// branch on the verdict, which is public. One or two warps per segment were slightly faster in large launches
// and much slower in small ones, which have too few segments to hide the latency of multiplications.
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

// The tag from the sums of all warps.
__device__ inline uint4 make_tag(const ghash::Element* warp_sums, const ghash::Lengths& lengths,
                                 const ghash::Element& h, const uint4& mask) {
  ghash::Element sum = lengths.last_block();
  for (unsigned warp = 0; warp < tag_warps; ++warp) sum = ghash::add(sum, warp_sums[warp]);
  std::uint32_t words[4];
  ghash::store(ghash::multiply(sum, ghash::Multiplier(h)), words);
  return {words[0] ^ mask.x, words[1] ^ mask.y, words[2] ^ mask.z, words[3] ^ mask.w};
}

// Writes the tags after the ciphertexts, or compares them.
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
    const ghash::Element sum = sum_of_warp(ghash::thread_share<blocks_ahead>(
        thread, tag_threads, static_cast<unsigned>(lengths.data_blocks()), stride,
        powers->of[tag_threads - 1 - thread], HashedBlocks{aad, lengths, ciphertext}));
    __syncthreads();  // the previous segment's sums have been read
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
