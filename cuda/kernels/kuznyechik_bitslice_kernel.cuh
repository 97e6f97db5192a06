// Bitsliced Kuznyechik: cipher/kuznyechik/bitslice.hpp on the counter blocks of a job
// (cipher/modes/counter_blocks.hpp), 32 per thread. Each warp processes tiles in a grid-stride loop. No
// memory address or branch depends on key or data.
//
// Shared memory holds the round keys, one word for each bit, and the 32 blocks of each thread before and
// after they are transposed: registers cannot be indexed in a loop.
//
// Launches of a few megabytes are slower than large ones because they have too few warps for all schedulers.
// 256 threads per multiprocessor with more registers were slower; 512 threads, whose registers cannot hold a
// state, were much slower.
#pragma once

#include "cipher/kuznyechik/bitslice.hpp"
#include "cipher/modes/counter_blocks.hpp"
#include "kernels/device.cuh"

namespace gpuaes::cuda {

constexpr unsigned kuznyechik_bitslice_threads = 128;           // maximum
constexpr unsigned kuznyechik_bitslice_resident_threads = 384;  // limited by registers
constexpr unsigned kuznyechik_bitslice_tile = kuznyechik::slices * warp_lanes;

// In dynamic shared memory, after the keys: block k of all threads of a warp is contiguous.
struct WarpBlocks {
  BlockWords of[kuznyechik::slices][warp_lanes];
};

__host__ __device__ constexpr unsigned kuznyechik_bitslice_memory(unsigned threads) {
  return static_cast<unsigned>(sizeof(kuznyechik::KeySlices) + threads / warp_lanes * sizeof(WarpBlocks));
}

// Stores the warp's counter blocks from `first` on, 32 for each thread, and zeros after the last one.
template <class CounterBlocks>
__device__ void gather_counters(const CounterBlocks& counter_blocks, std::uint64_t first, WarpBlocks& blocks,
                                unsigned warp_lane) {
#pragma unroll 4
  for (unsigned k = 0; k < kuznyechik::slices; ++k) {
    const std::uint64_t i = first + k * warp_lanes + warp_lane;
    blocks.of[k][warp_lane] = i < counter_blocks.count() ? counter_blocks.counter_block(i) : BlockWords{};
  }
}

template <class CounterBlocks>
__device__ void add_data(const CounterBlocks& counter_blocks, std::uint64_t first,
                         const WarpBlocks& keystream, unsigned warp_lane) {
#pragma unroll 8
  for (unsigned k = 0; k < kuznyechik::slices; ++k) {
    const std::uint64_t i = first + k * warp_lanes + warp_lane;
    if (i < counter_blocks.count())
      counter_blocks.store(i, add(counter_blocks.load(i), keystream.of[k][warp_lane]));
  }
}

__device__ inline void load_state(kuznyechik::Slices& state, const WarpBlocks& blocks, unsigned warp_lane) {
#pragma unroll
  for (unsigned k = 0; k < kuznyechik::slices; ++k) {
    const BlockWords block = blocks.of[k][warp_lane];
#pragma unroll
    for (unsigned word = 0; word < 4; ++word) state.words[kuznyechik::slices * word + k] = block.words[word];
  }
  slice(state);
}

__device__ inline void store_state(kuznyechik::Slices& state, WarpBlocks& blocks, unsigned warp_lane) {
  unslice(state);
#pragma unroll
  for (unsigned k = 0; k < kuznyechik::slices; ++k) {
    constexpr unsigned word = kuznyechik::slices;
    blocks.of[k][warp_lane] = {
        {state.words[k], state.words[word + k], state.words[2 * word + k], state.words[3 * word + k]}};
  }
}

template <class CounterBlocks>
__global__ void __launch_bounds__(kuznyechik_bitslice_threads,
                                  kuznyechik_bitslice_resident_threads / kuznyechik_bitslice_threads)
    kuznyechik_bitslice_kernel(const std::uint32_t* round_keys, CounterBlocks counter_blocks) {
  extern __shared__ uint4 kuznyechik_slices[];
  auto& keys = *reinterpret_cast<kuznyechik::KeySlices*>(kuznyechik_slices);
  let_later_begin();
  for (unsigned i = threadIdx.x; i < kuznyechik::key_slices; i += blockDim.x)
    keys.words[i] = kuznyechik::key_slice(round_keys, i);
  __syncthreads();
  wait_for_earlier();

  const unsigned warp_lane = threadIdx.x % warp_lanes, warps = blockDim.x / warp_lanes;
  WarpBlocks& blocks = reinterpret_cast<WarpBlocks*>(&keys + 1)[threadIdx.x / warp_lanes];
  const std::uint64_t tiles =
      (counter_blocks.count() + kuznyechik_bitslice_tile - 1) / kuznyechik_bitslice_tile;
  for (std::uint64_t tile = blockIdx.x * warps + threadIdx.x / warp_lanes; tile < tiles;
       tile += gridDim.x * warps) {
    const std::uint64_t first = tile * kuznyechik_bitslice_tile;
    kuznyechik::Slices state;
    gather_counters(counter_blocks, first, blocks, warp_lane);
    load_state(state, blocks, warp_lane);
    encrypt(state, keys);
    store_state(state, blocks, warp_lane);
    add_data(counter_blocks, first, blocks, warp_lane);
  }
  __syncthreads();
  wipe_shared(kuznyechik_slices, kuznyechik_bitslice_memory(blockDim.x));
}

}  // namespace gpuaes::cuda
