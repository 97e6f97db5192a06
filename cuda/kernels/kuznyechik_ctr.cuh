// Launches the kernel that encrypts the counter blocks of a job with Kuznyechik.
#pragma once

#include <algorithm>

#include "kernels/kernels.hpp"
#include "kernels/kuznyechik_bitslice_kernel.cuh"
#include "kernels/kuznyechik_ls_table_kernel.cuh"
#include "kernels/launch.cuh"

namespace gpuaes::cuda {

// Devices with little shared memory have room for fewer threads.
inline TileUse kuznyechik_bitslice_use() {
  const auto of_block = static_cast<unsigned>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  const auto of_processor = static_cast<unsigned>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  const auto reserved = static_cast<unsigned>(attribute(cudaDevAttrReservedSharedMemoryPerBlock));
  unsigned threads = kuznyechik_bitslice_threads;
  while (threads > warp_lanes && kuznyechik_bitslice_memory(threads) > of_block) threads -= warp_lanes;
  const unsigned blocks = of_processor / (kuznyechik_bitslice_memory(threads) + reserved);
  return {kuznyechik::slices, threads, std::min(blocks * threads, kuznyechik_bitslice_resident_threads)};
}

template <class CounterBlocks>
void launch_kuznyechik_bitslice(const KuznyechikKey& key, const CounterBlocks& counter_blocks,
                                cudaStream_t stream) {
  const std::uint64_t tiles =
      (counter_blocks.count() + kuznyechik_bitslice_tile - 1) / kuznyechik_bitslice_tile;
  Grid grid = tile_grid(tiles, key.shape, kuznyechik_bitslice_use());
  grid.shared_bytes = kuznyechik_bitslice_memory(grid.threads);
  launch(kuznyechik_bitslice_kernel<CounterBlocks>, grid, stream, key.round_keys, counter_blocks);
}

template <class CounterBlocks>
void launch_kuznyechik_table(const KuznyechikKey& key, const CounterBlocks& counter_blocks,
                             cudaStream_t stream) {
  Grid grid = tile_grid((counter_blocks.count() + warp_lanes - 1) / warp_lanes, key.shape,
                        {1, kuznyechik_table_threads, kuznyechik_table_threads});
  grid.shared_bytes = kuznyechik_table_bytes;
  launch(kuznyechik_table_kernel<CounterBlocks>, grid, stream, key.round_keys, counter_blocks);
}

template <class CounterBlocks>
void launch_kuznyechik(const KuznyechikKey& key, const CounterBlocks& counter_blocks, cudaStream_t stream) {
  switch (key.kernel) {
    case CudaKernel::bitslice:
      return launch_kuznyechik_bitslice(key, counter_blocks, stream);
    case CudaKernel::ttable:
      return launch_kuznyechik_table(key, counter_blocks, stream);
  }
}

template <class CounterBlocks>
KernelFacts kuznyechik_facts(CudaKernel kernel) {
  if (kernel == CudaKernel::bitslice)
    return {reinterpret_cast<const void*>(kuznyechik_bitslice_kernel<CounterBlocks>), kuznyechik::slices,
            kuznyechik_bitslice_use().max_threads, kuznyechik_bitslice_memory};
  return {reinterpret_cast<const void*>(kuznyechik_table_kernel<CounterBlocks>), 1, kuznyechik_table_threads,
          [](unsigned) { return kuznyechik_table_bytes; }};
}

}  // namespace gpuaes::cuda
