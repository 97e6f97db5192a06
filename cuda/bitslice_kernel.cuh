// CTR keystream, bitsliced: cipher/aes_bitslice_ctr.hpp on whole jobs, a tile of 256 blocks for a warp, in a
// grid-stride loop over tiles. No load or store has an address, and no branch a condition, that depends on
// key or data. One kernel for all key sizes.
//
// Shared memory holds the round keys spread over words; what tiles share of rounds 1 and 2 is made for 32
// tiles ahead, by one lane each.
#pragma once

#include <algorithm>

#include "cipher/aes_bitslice_ctr.hpp"
#include "cipher/tiles.hpp"
#include "launch.cuh"

namespace gpuaes::cuda {

constexpr unsigned bitslice_threads = 256, bitslice_blocks_each = 3;
constexpr unsigned bitslice_warps = bitslice_threads / warp_lanes;

__device__ inline void spread_keys(aes::KeyRows* keys, const std::uint32_t* round_keys, int rounds) {
  const unsigned count = static_cast<unsigned>(rounds + 1) * aes::key_rows;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
    keys[i] = aes::make_key_rows(round_keys + i / aes::key_rows * 4, i % aes::key_rows);
}

// Block 8k + g of the tile is in word k of the four threads of group g.
template <bool whole>
__device__ void apply(const Tile& tile, const aes::Column& key, unsigned group, unsigned column) {
  const std::int64_t word = 4 * (tile.offset + group) + column;
#pragma unroll
  for (unsigned k = 0; k < aes::slices; ++k) {
    const unsigned place = aes::groups * k + group;
    const std::int64_t at = word + 4 * aes::groups * k;
    if (whole || (place >= tile.begin && place < tile.end)) tile.out[at] = tile.in[at] ^ key.words[k];
  }
}

// A whole tile has no conditions, which would be 2 % of all instructions.
__device__ inline void apply(const Tile& tile, const aes::Column& key, unsigned group, unsigned column) {
  if (tile.begin == 0 && tile.end == aes::tile_blocks)
    apply<true>(tile, key, group, column);
  else
    apply<false>(tile, key, group, column);
  if (tile.mask != nullptr && group == mask_place) tile.mask[column] = key.words[0];
}

template <class Plan>
__device__ aes::Column begin_gathered(const Plan& plan, std::uint64_t number, const aes::KeyRows* keys,
                                      unsigned group, unsigned column) {
  aes::Column result;
#pragma unroll
  for (unsigned k = 0; k < aes::slices; ++k) {
    const aes::Block block = aes::load_block(plan.place(number, aes::groups * k + group).counter);
    result.words[k] = column & 2 ? (column & 1 ? block.words[3] : block.words[2])
                                 : (column & 1 ? block.words[1] : block.words[0]);
  }
  aes::transpose(result);
  aes::add_key(result, keys, column);
  return result;
}

template <class Plan>
__device__ void apply_gathered(const Plan& plan, std::uint64_t number, const aes::Column& key, unsigned group,
                               unsigned column) {
#pragma unroll
  for (unsigned k = 0; k < aes::slices; ++k) {
    const Place place = plan.place(number, aes::groups * k + group);
    if (place.is_there) place.out[column] = place.in[column] ^ key.words[k];
  }
}

// Plan: StretchTiles or SegmentTiles.
template <class Plan>
__global__ void __launch_bounds__(bitslice_threads, bitslice_blocks_each)
    bitslice_kernel(const std::uint32_t* round_keys, int rounds, Plan plan) {
  __shared__ aes::KeyRows keys[15 * aes::key_rows];
  __shared__ aes::LastByte last_bytes[warp_lanes];
  __shared__ aes::SharedRounds shared_rounds[bitslice_threads];
  const unsigned lane = threadIdx.x % warp_lanes, group = lane / 4, column = lane % 4;
  let_later_begin();
  spread_keys(keys, round_keys, rounds);
  if (threadIdx.x < warp_lanes) last_bytes[lane] = aes::make_last_byte(group, column, round_keys);
  __syncthreads();
  wait_for_earlier();

  aes::SharedRounds* const ahead = shared_rounds + threadIdx.x / warp_lanes * warp_lanes;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * bitslice_warps;
  const std::uint64_t aligned = plan.aligned(), tiles = aligned + plan.gathered();
  std::uint64_t number = blockIdx.x * bitslice_warps + threadIdx.x / warp_lanes;
  while (number < tiles) {
    __syncwarp();  // the last of those made before has been read
    ahead[lane] = aes::share_rounds(plan.tile(number + lane * stride).first, round_keys);
    __syncwarp();
#pragma unroll 1
    for (unsigned from = 0; from < warp_lanes && number < tiles; ++from, number += stride) {
      const bool gathered = Plan::gathers && number >= aligned;
      aes::State<1> state;
      if (gathered)
        state.columns[0] = begin_gathered(plan, number - aligned, keys, group, column);
      else
        state.columns[0] =
            aes::begin_tile(column, last_bytes[lane], ahead[from].column0, ahead[from].rest.words[column]);
      aes::encrypt(state, keys, gathered ? 1 : 3, rounds, column);
      aes::transpose(state.columns[0]);
      if (gathered)
        apply_gathered(plan, number - aligned, state.columns[0], group, column);
      else
        apply(plan.tile(number), state.columns[0], group, column);
    }
  }
}

template <class Plan>
void launch_bitslice(const std::uint32_t* round_keys, int rounds, const Plan& plan, cudaStream_t stream) {
  const std::uint64_t tiles = plan.aligned() + plan.gathered();
  launch(bitslice_kernel<Plan>,
         {.blocks = (tiles + bitslice_warps - 1) / bitslice_warps,
          .blocks_each = bitslice_blocks_each,
          .threads = bitslice_threads},
         stream, round_keys, rounds, plan);
}

}  // namespace gpuaes::cuda
