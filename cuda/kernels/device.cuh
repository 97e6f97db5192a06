// Common parts of the kernels. Files with kernels include nothing that launches them, which lets tests run
// the kernels on the host (tests/cuda/host/).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gpuaes::cuda {

inline constexpr unsigned warp_lanes = 32;

// The next CUDA block on the multiprocessor must not see keys or data.
__device__ inline void wipe_shared(volatile void* memory, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes / sizeof(std::uint32_t); i += blockDim.x)
    static_cast<volatile std::uint32_t*>(memory)[i] = 0;
}

// Waits until everything that earlier launches on the stream wrote is visible.
__device__ inline void wait_for_earlier() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// Lets the next launch on the stream begin where multiprocessors have room.
__device__ inline void let_later_begin() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

}  // namespace gpuaes::cuda
