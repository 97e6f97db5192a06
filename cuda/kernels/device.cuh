// What kernels have in common. Files of kernels include nothing that launches them, so that tests can run
// them on the host (tests/cuda/host_kernels_test.cpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gpuaes::cuda {

inline constexpr unsigned warp_lanes = 32;

// Whoever runs next on the multiprocessor finds no keys and no data.
__device__ inline void wipe_shared(volatile void* memory, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes / sizeof(std::uint32_t); i += blockDim.x)
    static_cast<volatile std::uint32_t*>(memory)[i] = 0;
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

}  // namespace gpuaes::cuda
