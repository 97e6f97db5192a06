// Kuznyechik in CTR mode by LS tables in shared memory: cipher/kuznyechik/ls_table.hpp, with one block per
// thread, in a grid-stride loop. Memory addresses depend on key and data.
//
// One CUDA block of 512 threads per multiprocessor fills 64 KiB of shared memory with the tables, once. A
// cipher block takes 144 independent lookups of 16 bytes. The bandwidth of shared memory, 128 bytes per cycle
// and multiprocessor, is the limit.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "cipher/kuznyechik/ls_table.hpp"
#include "kernels/device.cuh"

namespace gpuaes::cuda {

constexpr unsigned kuznyechik_table_threads = 512;  // maximum, and all that run on a multiprocessor
constexpr unsigned kuznyechik_table_bytes = sizeof(kuznyechik::LsTables);

static __device__ constexpr kuznyechik::LsTables kuznyechik_tables =
    kuznyechik::interleave(kuznyechik::make_ls_tables());

__device__ inline void fill_kuznyechik_tables(BlockWords* tables) {
  for (unsigned i = threadIdx.x; i < kuznyechik::ls_entries; i += blockDim.x)
    __pipeline_memcpy_async(tables + i, kuznyechik_tables.entries + i, sizeof(BlockWords));
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

static __global__ void __launch_bounds__(kuznyechik_table_threads, 1)
    kuznyechik_table_kernel(const std::uint32_t* round_keys, CtrBlocks counter_blocks) {
  extern __shared__ uint4 kuznyechik_memory[];
  BlockWords* const tables = reinterpret_cast<BlockWords*>(kuznyechik_memory);
  let_later_begin();
  fill_kuznyechik_tables(tables);
  __syncthreads();
  wait_for_earlier();

  BlockWords keys[kuznyechik::rounds + 1];
  for (unsigned round = 0; round <= kuznyechik::rounds; ++round)
    keys[round] = kuznyechik::key_of(round_keys, round);
  const kuznyechik::Interleaved lookup(tables, threadIdx.x % warp_lanes);
  const std::uint64_t count = counter_blocks.count(), stride = std::uint64_t{gridDim.x} * blockDim.x;
#pragma unroll 1
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const BlockWords data = counter_blocks.load(i);
    counter_blocks.store(i, add(data, kuznyechik::encrypt(counter_blocks.counter_block(i), keys, lookup)));
  }
}

}  // namespace gpuaes::cuda
