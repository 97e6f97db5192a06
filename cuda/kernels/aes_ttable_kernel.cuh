// CTR keystream by T-tables: cipher/aes/ttable.hpp on whole jobs, a tile of 128 blocks for a warp, in a
// grid-stride loop over tiles. Faster than without tables, and addresses depend on key and data.
//
// One block of 512 threads on each multiprocessor fills 64 KiB of shared memory with the tables, once. On an
// H200, with data in device memory, that makes 838, 700 and 600 GB/s with keys of 128, 192 and 256 bits, and
// 513, 450 and 407 in launches of 4 MiB, one behind the other. Tried and left (AES-128): tiles of 256 make
// 862 GB/s, but 291 in launches of 4 MiB, since half the warps find no work; two blocks of threads on a
// multiprocessor, 823; more or fewer threads, two cipher blocks at a time, round keys in shared memory: -5 to
// +2 %, and nothing for launches of 4 MiB.
#pragma once

#include "cipher/aes/ttable.hpp"
#include "cipher/modes/tiles.hpp"
#include "kernels/device.cuh"

namespace gpuaes::cuda {

constexpr unsigned ttable_threads = 512;  // at most, and all that a multiprocessor holds
constexpr unsigned ttable_tile = 4 * warp_lanes;
constexpr unsigned table_bytes = aes::replicated_words * sizeof(std::uint32_t);

static __device__ constexpr aes::TTable ttable = aes::make_ttable();

__device__ inline void fill_tables(uint4* tables) {
  for (unsigned i = threadIdx.x; i < table_bytes / sizeof(uint4); i += blockDim.x) {
    const std::uint32_t word = aes::replicated_word(ttable, 4 * i);
    tables[i] = {word, word, word, word};
  }
}

__device__ inline uint4 load_data(const std::uint32_t* words) {
  return *reinterpret_cast<const uint4*>(words);
}

__device__ inline void store_data(std::uint32_t* words, const uint4& data, const aes::Block& key) {
  *reinterpret_cast<uint4*>(words) = {data.x ^ key.words[0], data.y ^ key.words[1], data.z ^ key.words[2],
                                      data.w ^ key.words[3]};
}

// Plan: CtrTiles or SegmentTiles.
template <int rounds, class Plan>
__global__ void __launch_bounds__(ttable_threads, 1)
    ttable_kernel(const std::uint32_t* round_keys, Plan plan) {
  extern __shared__ uint4 tables[];
  let_later_begin();
  fill_tables(tables);
  __syncthreads();
  wait_for_earlier();

  const unsigned warp_lane = threadIdx.x % warp_lanes;
  const unsigned warps = blockDim.x / warp_lanes, warp = blockIdx.x * warps + threadIdx.x / warp_lanes;
  const unsigned stride = gridDim.x * warps;
  aes::CtrKeystream<rounds> keystream(reinterpret_cast<const std::uint32_t*>(tables), warp_lane, round_keys);
  for (std::uint64_t number = warp; number < plan.aligned(); number += stride) {
    const Tile tile = plan.tile(number);
    keystream.start(tile.first);
#pragma unroll 1
    for (unsigned i = warp_lane; i < ttable_tile; i += warp_lanes) {
      const bool has_data = i >= tile.begin && i < tile.end;
      const std::int64_t at = 4 * (tile.offset + i);
      // In a branch of its own: otherwise the compiler loads where it needs the data, late, and makes 812
      // GB/s.
      uint4 data{};
      if (has_data) data = load_data(tile.in + at);
      const aes::Block key = keystream.block(static_cast<unsigned>(tile.first.low) % 256 + i);
      if (has_data)
        store_data(tile.out + at, data, key);
      else if (i == mask_block && tile.mask != nullptr)
        store_data(tile.mask, {}, key);
    }
  }
  for (std::uint64_t number = warp; number < plan.gathered(); number += stride) {
#pragma unroll 1
    for (unsigned i = warp_lane; i < ttable_tile; i += warp_lanes) {
      const GatheredBlock block = plan.gathered_block(number, i);
      if (!block.is_used) continue;
      keystream.start(block.counter);
      store_data(block.out, load_data(block.in),
                 keystream.block(static_cast<unsigned>(block.counter.low) % 256));
    }
  }
}

}  // namespace gpuaes::cuda
