// Launches of grid-stride kernels. On devices that support programmatic dependent launch, a kernel may begin
// before the kernels launched before it have ended.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "kernels/device.cuh"
#include "kernels/kernels.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

struct Grid {
  std::uint64_t blocks;           // CUDA blocks
  unsigned threads;               // in a CUDA block
  unsigned shared_bytes{};        // dynamic shared memory of a CUDA block
  bool early = false;             // may begin before the previous launch ends, if the device supports that
  unsigned per_multiprocessor{};  // CUDA blocks at most; 0: as many as fit
};

inline unsigned multiprocessors() {
  return static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
}

// A grid for work that `blocks` CUDA blocks can share: the same number on each multiprocessor, at most
// max_per_multiprocessor.
//
// Large launches begin early, in the room that the previous launch leaves. Without a limit, one
// multiprocessor could take more than its share of CUDA blocks and prolong the launch, which was much slower;
// launch() enforces the limit. Small launches do not begin early, because with several CUDA streams they
// would take multiprocessors from the other streams' launches, which was also slower.
inline Grid even_grid(std::uint64_t blocks, unsigned threads, unsigned max_per_multiprocessor) {
  constexpr unsigned large = 256;  // threads per multiprocessor
  const unsigned processors = multiprocessors();
  const auto per_multiprocessor = static_cast<unsigned>(
      std::clamp<std::uint64_t>((blocks + processors - 1) / processors, 1, max_per_multiprocessor));
  const bool early = per_multiprocessor * threads >= large;
  return {
      .blocks = std::uint64_t{processors} * per_multiprocessor,
      .threads = threads,
      .early = early,
      .per_multiprocessor = early && per_multiprocessor < max_per_multiprocessor ? per_multiprocessor : 0};
}

// The CUDA blocks whose warps share tiles.
struct TileUse {
  unsigned max_threads;       // in a CUDA block
  unsigned resident_threads;  // threads that fit on a multiprocessor
};

// Small launches have small CUDA blocks, which gives all multiprocessors work.
inline Grid tile_grid(std::uint64_t tiles, const TileUse& use) {
  const std::uint64_t warps_each = (tiles + multiprocessors() - 1) / multiprocessors();
  const auto threads =
      static_cast<unsigned>(std::clamp<std::uint64_t>(warps_each * warp_lanes, warp_lanes, use.max_threads));
  const unsigned warps = threads / warp_lanes;
  return even_grid((tiles + warps - 1) / warps, threads, std::max(1u, use.resident_threads / threads));
}

// Bytes of shared memory for a CUDA block such that exactly per_multiprocessor of them fit.
inline unsigned fill_shared_memory(unsigned per_multiprocessor) {
  constexpr unsigned unit = 256;  // allocation granularity
  const auto all = static_cast<unsigned>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  const auto reserved = static_cast<unsigned>(attribute(cudaDevAttrReservedSharedMemoryPerBlock));
  const auto max_bytes = static_cast<unsigned>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  return std::min((all / per_multiprocessor - reserved) / unit * unit, max_bytes);
}

// The architecture that the kernel was compiled for, such as 90; it may be older than the device.
inline int compiled_architecture(const void* kernel) {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, kernel));
  return attributes.ptxVersion;
}

// Whether wait_for_earlier() waits in this kernel.
inline bool can_begin_early(const void* kernel) {
  return compiled_architecture(kernel) >= 90;
}

// `kernel` must call wait_for_earlier() before it reads anything that a kernel writes.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const Grid& grid, cudaStream_t stream,
            const Arguments&... arguments) {
  const auto function = reinterpret_cast<const void*>(kernel);
  const bool is_early = grid.early && can_begin_early(function);
  allow_shared_memory(function);
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(grid.blocks);  // 2^31 CUDA blocks would be terabytes of data
  config.blockDim = grid.threads;
  config.dynamicSmemBytes = is_early && grid.per_multiprocessor > 0
                                ? std::max(grid.shared_bytes, fill_shared_memory(grid.per_multiprocessor))
                                : grid.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &early;
  config.numAttrs = is_early ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace gpuaes::cuda
