// Bitsliced CTR keystream: cipher/aes/bitslice_ctr.hpp on whole jobs. Each warp processes tiles of 256 blocks
// in a grid-stride loop. No memory address or branch depends on key or data. One kernel serves all key sizes.
//
// Shared memory holds the bitsliced round keys. The parts of rounds 1 and 2 that the blocks of a tile share
// are computed for 32 tiles at once, one tile by each thread of a warp.
//
// More resident threads with fewer registers each were slower in launches of a few megabytes. CUDA blocks of
// 512 threads made little difference, and smaller ones were slower.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "cipher/aes/bitslice_ctr.hpp"
#include "cipher/modes/tiles.hpp"
#include "kernels/device.cuh"

namespace gpuaes::cuda {

constexpr unsigned bitslice_threads = 256;           // maximum
constexpr unsigned bitslice_resident_threads = 512;  // limited by registers

// At the start of dynamic shared memory, followed by a WarpMemory for each warp.
struct BlockMemory {
  aes::KeyRows keys[15 * aes::key_rows];
  aes::LastByte last_bytes[warp_lanes];
};

struct WarpMemory {
  uint4 data[aes::tile_blocks];         // of the current tile
  aes::SharedRounds ahead[warp_lanes];  // of this tile and the warp's next ones
};

__host__ __device__ constexpr unsigned memory_bytes(unsigned threads) {
  return static_cast<unsigned>(sizeof(BlockMemory) + threads / warp_lanes * sizeof(WarpMemory));
}

__device__ inline void spread_keys(aes::KeyRows* keys, const std::uint32_t* round_keys, int rounds) {
  const unsigned count = static_cast<unsigned>(rounds + 1) * aes::key_rows;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
    keys[i] = aes::make_key_rows(round_keys + i / aes::key_rows * 4, i % aes::key_rows);
}

// Starts copying the tile's data to shared memory, which keeps it out of registers while the keystream is
// computed.
__device__ inline void fetch(const Tile& tile, uint4* data, unsigned warp_lane) {
  // Keeps the compiler from computing the address once for all tiles, which would take one register too many.
  asm volatile("" : "+r"(warp_lane));
  for (unsigned i = warp_lane; i < aes::tile_blocks; i += warp_lanes)
    if (i >= tile.begin && i < tile.end)
      __pipeline_memcpy_async(data + i, tile.in + 4 * (tile.offset + i), sizeof(uint4));
  __pipeline_commit();
}

__device__ inline void wait_for_data() {
  __pipeline_wait_prior(0);
  __syncwarp();  // the other threads of the warp have fetched their parts
}

// XORs the keystream into the data of a tile: word k belongs to block 8k + group. Whole tiles skip the bounds
// checks.
template <bool whole>
__device__ void add_data(const Tile& tile, const aes::Column& key, const uint4* data, unsigned group,
                         unsigned column) {
  const std::uint32_t* const in = reinterpret_cast<const std::uint32_t*>(data + group) + column;
  std::uint32_t* const out = tile.out + 4 * (tile.offset + group) + column;
  for (unsigned k = 0; k < aes::slices; ++k) {
    const unsigned i = aes::groups * k + group;
    if (whole || (i >= tile.begin && i < tile.end))
      out[4 * aes::groups * k] = in[4 * aes::groups * k] ^ key.words[k];
  }
}

__device__ inline void finish_tile(const Tile& tile, const aes::Column& key, const uint4* data,
                                   unsigned group, unsigned column) {
  wait_for_data();
  if (tile.begin == 0 && tile.end == aes::tile_blocks)
    add_data<true>(tile, key, data, group, column);
  else
    add_data<false>(tile, key, data, group, column);
  if (tile.mask != nullptr && group == mask_block) tile.mask[column] = key.words[0];
  __syncwarp();  // all threads have read the data that the next tile overwrites
}

template <class Plan>
__device__ aes::Column begin_gathered(const Plan& plan, std::uint64_t number, const aes::KeyRows* keys,
                                      unsigned group, unsigned column) {
  aes::Column result;
#pragma unroll
  for (unsigned k = 0; k < aes::slices; ++k) {
    const aes::Block block = aes::load_block(plan.gathered_block(number, aes::groups * k + group).counter);
    result.words[k] = column & 2 ? (column & 1 ? block.words[3] : block.words[2])
                                 : (column & 1 ? block.words[1] : block.words[0]);
  }
  aes::transpose(result);
  aes::add_key(result, keys, column);
  return result;
}

template <class Plan>
__device__ void fetch_gathered(const Plan& plan, std::uint64_t number, uint4* data, unsigned warp_lane) {
  for (unsigned i = warp_lane; i < aes::tile_blocks; i += warp_lanes) {
    const GatheredBlock block = plan.gathered_block(number, i);
    if (block.is_used) __pipeline_memcpy_async(data + i, block.in, sizeof(uint4));
  }
  __pipeline_commit();
}

template <class Plan>
__device__ void finish_gathered(const Plan& plan, std::uint64_t number, const aes::Column& key,
                                const uint4* data, unsigned group, unsigned column) {
  wait_for_data();
  const std::uint32_t* const in = reinterpret_cast<const std::uint32_t*>(data + group) + column;
#pragma unroll
  for (unsigned k = 0; k < aes::slices; ++k) {
    const GatheredBlock block = plan.gathered_block(number, aes::groups * k + group);
    if (block.is_used) block.out[column] = in[4 * aes::groups * k] ^ key.words[k];
  }
  __syncwarp();  // as in finish_tile()
}

// Plan is CtrTiles or SegmentTiles.
template <class Plan>
__global__ void __launch_bounds__(bitslice_threads, bitslice_resident_threads / bitslice_threads)
    bitslice_kernel(const std::uint32_t* round_keys, int rounds, Plan plan) {
  extern __shared__ uint4 bitslice_memory[];
  BlockMemory& block = *reinterpret_cast<BlockMemory*>(bitslice_memory);
  const unsigned warp_lane = threadIdx.x % warp_lanes, group = warp_lane / 4, column = warp_lane % 4;
  let_later_begin();
  spread_keys(block.keys, round_keys, rounds);
  if (threadIdx.x < warp_lanes) block.last_bytes[warp_lane] = aes::make_last_byte(group, column, round_keys);
  __syncthreads();
  wait_for_earlier();

  WarpMemory& own = reinterpret_cast<WarpMemory*>(&block + 1)[threadIdx.x / warp_lanes];
  const unsigned warps = blockDim.x / warp_lanes, stride = gridDim.x * warps;
  const auto aligned = static_cast<unsigned>(plan.aligned());  // 2^32 tiles would be 16 TiB
  const auto tiles = static_cast<unsigned>(aligned + plan.gathered());
  unsigned number = blockIdx.x * warps + threadIdx.x / warp_lanes;
  while (number < tiles) {
    __syncwarp();  // all threads have read the last of the previous 32 parts
    own.ahead[warp_lane] =
        aes::share_rounds(plan.tile(std::uint64_t{number} + warp_lane * stride).first, round_keys);
    __syncwarp();
#pragma unroll 1
    for (unsigned from = 0; from < warp_lanes && number < tiles; ++from, number += stride) {
      const bool gathered = Plan::gathers && number >= aligned;
      aes::State<1> state;
      if (gathered) {
        fetch_gathered(plan, number - aligned, own.data, warp_lane);
        state.columns[0] = begin_gathered(plan, number - aligned, block.keys, group, column);
      } else {
        fetch(plan.tile(number), own.data, warp_lane);
        state.columns[0] = aes::begin_tile(column, block.last_bytes[warp_lane], own.ahead[from].column0,
                                           own.ahead[from].rest.words[column]);
      }
      aes::encrypt(state, block.keys, gathered ? 1 : 3, rounds, column);
      aes::transpose(state.columns[0]);
      if (gathered)
        finish_gathered(plan, number - aligned, state.columns[0], own.data, group, column);
      else
        finish_tile(plan.tile(number), state.columns[0], own.data, group, column);
    }
  }
  __syncthreads();
  wipe_shared(bitslice_memory, memory_bytes(blockDim.x));
}

}  // namespace gpuaes::cuda
