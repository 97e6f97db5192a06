// Launches of kernels that stride over their work with the whole grid.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime.hpp"

namespace gpuaes::cuda {

inline constexpr unsigned warp_lanes = 32;

struct GridShape {
  std::uint64_t blocks;     // that would find work
  unsigned blocks_each;     // on a multiprocessor at most
  unsigned threads;         // of a block
  unsigned shared_bytes{};  // dynamic, of a block
};

inline unsigned count_multiprocessors() {
  int device, count;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return static_cast<unsigned>(count);
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const GridShape& shape, cudaStream_t stream,
            const Arguments&... arguments) {
  if (shape.shared_bytes > 0)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)));
  const std::uint64_t most = std::uint64_t{shape.blocks_each} * count_multiprocessors();
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(std::min(shape.blocks, most));
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace gpuaes::cuda
