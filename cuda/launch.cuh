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

inline unsigned multiprocessors() {
  return static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
}

// CUDA blocks for so many of them that find work: as many for each multiprocessor, but `each` at most.
// Uneven launches would be slow in a row. A launch that begins early finds its place between those of the
// one before, so it would fill up the multiprocessors that have fewer of those, and take as long as they do:
// launches of 128 CUDA blocks take twice as long on 132 multiprocessors, and three times as long if there is
// room for three.
inline std::uint64_t even_blocks(std::uint64_t blocks, unsigned each) {
  const unsigned processors = multiprocessors();
  return processors * std::clamp<std::uint64_t>((blocks + processors - 1) / processors, 1, each);
}

// How warps take tiles, one after the other.
struct TileUse {
  unsigned blocks_per_thread;  // cipher blocks of a tile
  unsigned most_threads;       // of a CUDA block
  unsigned resident_threads;   // that a multiprocessor holds
};

// Where the shape leaves it open, small launches have small CUDA blocks, so that all multiprocessors find
// work.
inline Grid tile_grid(std::uint64_t tiles, const KernelShape& shape, const TileUse& use) {
  const std::uint64_t warps_each = (tiles + multiprocessors() - 1) / multiprocessors();
  const unsigned fitting =
      static_cast<unsigned>(std::clamp<std::uint64_t>(warps_each * warp_lanes, warp_lanes, use.most_threads));
  const unsigned threads = shape.threads == 0 ? fitting : std::min(shape.threads, use.most_threads);
  const unsigned warps = threads / warp_lanes;
  if (shape.blocks_per_thread == 0)
    return {even_blocks((tiles + warps - 1) / warps, std::max(1u, use.resident_threads / threads)), threads};
  const unsigned tiles_per_warp = std::max(1u, shape.blocks_per_thread / use.blocks_per_thread);
  const std::uint64_t tiles_each = std::uint64_t{warps} * tiles_per_warp;
  return {(tiles + tiles_each - 1) / tiles_each, threads};
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
