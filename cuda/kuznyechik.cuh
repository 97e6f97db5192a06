// Launches the kernel that enciphers the places of a job with Kuznyechik.
#pragma once

#include "error.hpp"
#include "kernels.hpp"
#include "kuznyechik_table_kernel.cuh"
#include "launch.cuh"

namespace gpuaes::cuda {

template <class Places>
void launch_kuznyechik_table(const KuznyechikKey& key, const Places& places, cudaStream_t stream) {
  Grid grid = tile_grid((places.count() + warp_lanes - 1) / warp_lanes, key.shape,
                        {1, kuznyechik_table_threads, kuznyechik_table_threads});
  grid.shared_bytes = kuznyechik_table_bytes;
  launch(kuznyechik_table_kernel<Places>, grid, stream, key.round_keys, places);
}

template <class Places>
void launch_kuznyechik(const KuznyechikKey& key, const Places& places, cudaStream_t stream) {
  if (key.kernel != CudaKernel::ttable) throw LaneError("Kuznyechik has no kernel of that name");
  launch_kuznyechik_table(key, places, stream);
}

}  // namespace gpuaes::cuda
