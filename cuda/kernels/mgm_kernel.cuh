// The products of MGM (RFC 9058, section 4.1) for a job's segments, and the final step of their tags. No
// tables; no memory address or branch depends on key or data, except the final branch on the verdict, which
// is public.
#pragma once

#include "cipher/modes/mgm.hpp"
#include "cipher/modes/mgm_counter_blocks.hpp"
#include "kernels/device.cuh"
#include "kernels/kernels.hpp"
#include "kernels/tags.cuh"

namespace gpuaes::cuda {

constexpr unsigned product_threads = 128, product_warps = product_threads / warp_lanes;
constexpr unsigned product_bytes = product_warps * sizeof(ghash::Element);

__device__ inline ghash::Element element_of(const BlockWords& block) {
  return ghash::load(block.words);
}

// The sum of the products of every 128th block and its factor, before reduction.
__device__ inline mgm::Product sum_of_thread(unsigned first, unsigned count, const BlockWords* factors,
                                             const HashedBlocks& blocks) {
  mgm::Product sum{};
  for (unsigned at = first; at < count; at += blocks_ahead * product_threads) {
    uint4 fetched[blocks_ahead];
    BlockWords own[blocks_ahead];
    for (unsigned k = 0; k < blocks_ahead; ++k) {
      const unsigned i = at + k * product_threads, used = i < count ? i : count - 1;
      fetched[k] = blocks.fetch(used);
      own[k] = factors[used];
    }
    for (unsigned k = 0; k < blocks_ahead; ++k) {
      const unsigned i = at + k * product_threads;
      if (i < count) mgm::add_product(element_of(own[k]), blocks.block(fetched[k], i), sum);
    }
  }
  return sum;
}

// For each segment, the sum of the products of its blocks and factors: 128 threads share a segment.
// Each takes every 128th block and reduces once.
static __global__ void __launch_bounds__(product_threads)
    mgm_product_kernel(PublicData aad, MgmSegments segments, const std::byte* sealed,
                       const BlockWords* factors, BlockWords* sums) {
  extern __shared__ uint4 product_memory[];
  auto* const warp_sums = reinterpret_cast<ghash::Element*>(product_memory);
  const unsigned thread = threadIdx.x, warp_lane = thread % warp_lanes, warp = thread / warp_lanes;
  let_later_begin();
  wait_for_earlier();
  for (std::uint64_t segment = blockIdx.x; segment < segments.count; segment += gridDim.x) {
    const ghash::Lengths lengths{aad.size, segments.plain_bytes(segment)};
    const HashedBlocks blocks{aad, lengths, sealed + segment * sealed_segment_bytes};
    const BlockWords* const own = factors + segment * segments.max_factors();
    const auto count = static_cast<unsigned>(lengths.data_blocks());
    mgm::Product sum = sum_of_thread(thread, count, own, blocks);
    if (thread == 0) mgm::add_product(element_of(own[count]), lengths.last_block(), sum);
    const ghash::Element warp_sum = sum_of_warp(mgm::reduce(sum));
    __syncthreads();  // the previous segment's sums have been read
    if (warp_lane == 0) warp_sums[warp] = warp_sum;
    __syncthreads();
    if (thread != 0) continue;
    ghash::Element all{};
    for (unsigned i = 0; i < product_warps; ++i) all = ghash::add(all, warp_sums[i]);
    ghash::store(all, sums[segment].words);
  }
  __syncthreads();
  wipe_shared(product_memory, product_bytes);
}

// Writes the tags after the ciphertexts, or compares them, with one warp per segment.
constexpr unsigned mgm_tag_threads = 128;
static __global__ void __launch_bounds__(mgm_tag_threads)
    mgm_tag_kernel(MgmSegments segments, std::byte* sealed, const uint4* tags, std::uint32_t* first_bad) {
  const unsigned warp_lane = threadIdx.x % warp_lanes, warps = blockDim.x / warp_lanes;
  let_later_begin();
  wait_for_earlier();
  for (std::uint64_t segment = std::uint64_t{blockIdx.x} * warps + threadIdx.x / warp_lanes;
       segment < segments.count; segment += gridDim.x * warps)
    finish_tag(tags[segment], sealed + segment * sealed_segment_bytes + segments.plain_bytes(segment),
               segment, first_bad, warp_lane);
}

}  // namespace gpuaes::cuda
