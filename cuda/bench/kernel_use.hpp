// What the compiler and the device make of the kernels that lanes run.
#pragma once

#include "lane/aes_kernel.hpp"
#include "variants/variants.hpp"

namespace gpuaes::cuda {

struct LaneKernelUse {
  KernelUse use;
  unsigned threads;  // of a CUDA block
};

// Of the one that makes the keystream: of a stretch of data, or of segments. LaneError.
LaneKernelUse lane_kernel_use(AesKernel kernel, bool of_segments, int rounds);

}  // namespace gpuaes::cuda
