// CTR keystream by T-tables: cipher/aes/ttable.hpp on whole buffers. Each warp processes tiles of 128 blocks
// in a grid-stride loop. Faster than the bitsliced kernel, but memory addresses depend on key and data.
//
// One CUDA block of 512 threads per multiprocessor fills 64 KiB of shared memory with the tables, once. Tiles
// of 256 blocks were faster in large launches and much slower in small ones, where half of the warps had no
// work. Two CUDA blocks per multiprocessor were slower. Other numbers of threads, two cipher blocks at a
// time, and round keys in shared memory made little difference.
#pragma once

#include "cipher/aes/ttable.hpp"
#include "cipher/modes/tiles.hpp"
#include "kernels/device.cuh"

namespace gpuaes::cuda {

constexpr unsigned ttable_threads = 512;  // maximum, and all that run on a multiprocessor
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

template <int rounds>
__global__ void __launch_bounds__(ttable_threads, 1)
    ttable_kernel(const std::uint32_t* round_keys, CtrTiles<ttable_tile> tiles) {
  extern __shared__ uint4 tables[];
  let_later_begin();
  fill_tables(tables);
  __syncthreads();
  wait_for_earlier();

  const unsigned warp_lane = threadIdx.x % warp_lanes;
  const unsigned warps = blockDim.x / warp_lanes, warp = blockIdx.x * warps + threadIdx.x / warp_lanes;
  const unsigned stride = gridDim.x * warps;
  aes::CtrKeystream<rounds> keystream(reinterpret_cast<const std::uint32_t*>(tables), warp_lane, round_keys);
  for (std::uint64_t number = warp; number < tiles.aligned(); number += stride) {
    const Tile tile = tiles.tile(number);
    keystream.start(tile.first);
#pragma unroll 1
    for (unsigned i = warp_lane; i < ttable_tile; i += warp_lanes) {
      const bool has_data = i >= tile.begin && i < tile.end;
      const std::int64_t at = 4 * (tile.offset + i);
      // A separate branch, because otherwise the compiler moves the load to where the data is needed, which
      // is slower.
      uint4 data{};
      if (has_data) data = load_data(tile.in + at);
      const aes::Block key = keystream.block(static_cast<unsigned>(tile.first.low) % 256 + i);
      if (has_data) store_data(tile.out + at, data, key);
    }
  }
}

}  // namespace gpuaes::cuda
