// Launches of kernels that stride over their work with the whole grid, and that may begin before the kernels
// launched before them have ended, where the device can do that (programmatic dependent launch).
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lane/aes_kernel.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

inline constexpr unsigned warp_lanes = 32;

struct Grid {
  std::uint64_t blocks;     // CUDA blocks
  unsigned threads;         // of a CUDA block
  unsigned shared_bytes{};  // dynamic, of a CUDA block
};

inline int attribute(cudaDeviceAttr which) {
  int device, value;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

// CUDA blocks that find work, but no more than `each` on a multiprocessor.
inline std::uint64_t resident(std::uint64_t blocks, unsigned each) {
  return std::min(blocks,
                  std::uint64_t{each} * static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount)));
}

// For warps that take tile after tile. `tile_blocks_per_thread`: cipher blocks of a tile for each thread.
// `resident_threads`: that a multiprocessor holds.
inline Grid tile_grid(std::uint64_t tiles, const KernelShape& shape, unsigned tile_blocks_per_thread,
                      unsigned resident_threads) {
  const unsigned warps = shape.threads / warp_lanes;
  const unsigned tiles_per_warp = std::max(1u, shape.blocks_per_thread / tile_blocks_per_thread);
  if (shape.blocks_per_thread == 0)
    return {resident((tiles + warps - 1) / warps, std::max(1u, resident_threads / shape.threads)),
            shape.threads};
  const std::uint64_t tiles_each = std::uint64_t{warps} * tiles_per_warp;
  return {(tiles + tiles_each - 1) / tiles_each, shape.threads};
}

// From here on what earlier launches on the stream wrote is there.
__device__ inline void wait_for_earlier() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// From here on the next launch on the stream may begin, where this one leaves it room.
__device__ inline void let_later_begin() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// `kernel` calls wait_for_earlier() before it looks at anything that a kernel writes.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const Grid& grid, cudaStream_t stream,
            const Arguments&... arguments) {
  if (grid.shared_bytes > 0)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(grid.shared_bytes)));
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(grid.blocks);
  config.blockDim = grid.threads;
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &overlap;
  config.numAttrs = attribute(cudaDevAttrComputeCapabilityMajor) >= 9 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace gpuaes::cuda
