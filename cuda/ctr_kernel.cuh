// AES-CTR by T-tables: cipher/aes_ttable.hpp on whole buffers, in a grid-stride loop over tiles.
//
// A tile is what one warp does between two start(): 128 counters, the first of them a multiple of 128, so
// that all share all but their last byte. A stretch of data under consecutive counters may begin anywhere in
// its first tile and end anywhere in its last. The blocks before it are left out by one comparison: an index
// before the stretch is huge as an unsigned number. A plan says how the tiles lie on the data.
//
// One block of 512 threads on each multiprocessor fills 64 KiB of shared memory with the tables, once. On an
// H200, with data in device memory, that makes 840, 704 and 600 GB/s with keys of 128, 192 and 256 bits, and
// 440, 392 and 355 in launches of 4 MiB, one behind the other. Tried and left (AES-128): tiles of 256 make
// 862 GB/s, but 291 in launches of 4 MiB, since half the warps find no work; two blocks of threads on a
// multiprocessor, 823; more or fewer threads, two cipher blocks at a time, round keys in shared memory: -5 to
// +2 %, and nothing for launches of 4 MiB.
#pragma once

#include <algorithm>

#include "cipher/aes_ttable.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

constexpr unsigned warp_lanes = 32;
constexpr unsigned ctr_threads = 512, ctr_warps = ctr_threads / warp_lanes;
constexpr unsigned tile_blocks = 4 * warp_lanes;
constexpr unsigned table_bytes = aes::replicated_words * sizeof(std::uint32_t);

// One tile. Block i of it belongs to the counter first + i, and is block `begin + i` of the stretch.
struct Tile {
  Counter first;
  std::uint64_t begin;   // below 0, modulo 2^64, where the stretch begins inside the tile
  unsigned count;        // of its blocks; behind them there is nothing to be done
  std::uint64_t blocks;  // of the stretch
  const uint4* in;
  uint4* out;
};

static __device__ constexpr aes::TTable ttable = aes::make_ttable();

// Plan: tiles() of them, tile(number), and before(tile, block, keystream) for the blocks before a stretch.
template <int rounds, class Plan>
__global__ void __launch_bounds__(ctr_threads, 1) ctr_kernel(const std::uint32_t* round_keys, Plan plan) {
  extern __shared__ uint4 tables[];
  for (unsigned i = threadIdx.x; i < table_bytes / sizeof(uint4); i += ctr_threads) {
    const std::uint32_t word = aes::replicated_word(ttable, 4 * i);
    tables[i] = {word, word, word, word};
  }
  __syncthreads();

  const unsigned lane = threadIdx.x % warp_lanes, warp = blockIdx.x * ctr_warps + threadIdx.x / warp_lanes;
  aes::CtrKeystream<rounds> keystream(reinterpret_cast<const std::uint32_t*>(tables), lane, round_keys);
  const std::uint64_t tiles = plan.tiles();
  for (std::uint64_t number = warp; number < tiles; number += gridDim.x * ctr_warps) {
    const Tile tile = plan.tile(number);
    keystream.start(tile.first);
#pragma unroll 1
    for (unsigned i = lane; i < tile.count; i += warp_lanes) {
      const std::uint64_t index = tile.begin + i;
      // In a branch of its own: otherwise the compiler loads where it needs the data, late, and makes 812
      // GB/s.
      uint4 data{};
      if (index < tile.blocks) data = tile.in[index];
      const aes::Block key = keystream.block(static_cast<unsigned>(tile.first.low) % 256 + i);
      if (index < tile.blocks)
        tile.out[index] = {data.x ^ key.words[0], data.y ^ key.words[1], data.z ^ key.words[2],
                           data.w ^ key.words[3]};
      else
        plan.before(number, index, key);
    }
  }
}

inline unsigned count_multiprocessors() {
  int device, count;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return static_cast<unsigned>(count);
}

template <int rounds, class Plan>
void launch_ctr_rounds(const std::uint32_t* round_keys, const Plan& plan, cudaStream_t stream) {
  check(cudaFuncSetAttribute(ctr_kernel<rounds, Plan>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             table_bytes));
  const std::uint64_t useful = (plan.tiles() + ctr_warps - 1) / ctr_warps;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(std::min<std::uint64_t>(useful, count_multiprocessors()));
  config.blockDim = ctr_threads;
  config.dynamicSmemBytes = table_bytes;
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, ctr_kernel<rounds, Plan>, round_keys, plan));
}

template <class Plan>
void launch_ctr(const std::uint32_t* round_keys, int rounds, const Plan& plan, cudaStream_t stream) {
  switch (rounds) {
    case 10:
      return launch_ctr_rounds<10>(round_keys, plan, stream);
    case 12:
      return launch_ctr_rounds<12>(round_keys, plan, stream);
    default:
      return launch_ctr_rounds<14>(round_keys, plan, stream);
  }
}

}  // namespace gpuaes::cuda
