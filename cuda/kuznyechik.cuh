// Launches the kernel that enciphers the places of a job with Kuznyechik.
#pragma once

#include "kernels.hpp"
#include "kuznyechik_bitslice_kernel.cuh"
#include "launch.cuh"

namespace gpuaes::cuda {

template <class Places>
void launch_kuznyechik(const KuznyechikKey& key, const Places& places, cudaStream_t stream) {
  const std::uint64_t tiles = (places.count() + kuznyechik_bitslice_tile - 1) / kuznyechik_bitslice_tile;
  Grid grid =
      tile_grid(tiles, key.shape,
                {kuznyechik::slices, kuznyechik_bitslice_threads, kuznyechik_bitslice_resident_threads});
  grid.shared_bytes = kuznyechik_bitslice_memory(grid.threads);
  launch(kuznyechik_bitslice_kernel<Places>, grid, stream, key.round_keys, places);
}

}  // namespace gpuaes::cuda
