// Launches of kernels that stride over their work with the whole grid, and that may begin before the kernels
// launched before them have ended, where the device can do that (programmatic dependent launch).
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

inline int attribute(cudaDeviceAttr which) {
  int device, value;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&value, which, device));
  return value;
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
void launch(void (*kernel)(Parameters...), const GridShape& shape, cudaStream_t stream,
            const Arguments&... arguments) {
  if (shape.shared_bytes > 0)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)));
  const std::uint64_t most =
      std::uint64_t{shape.blocks_each} * static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(std::min(shape.blocks, most));
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &overlap;
  config.numAttrs = attribute(cudaDevAttrComputeCapabilityMajor) >= 9 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace gpuaes::cuda
