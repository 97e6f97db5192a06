// What the compiler and the device make of the kernels that lanes run.
#pragma once

#include "cipher/ciphers.hpp"
#include "lane/cuda_kernel.hpp"
#include "variants/variants.hpp"

namespace gpuaes::cuda {

struct LaneKernelUse {
  KernelUse use;
  unsigned threads;  // of a CUDA block
};

// Cipher blocks that a tile of the kernel has for each thread of a warp.
unsigned tile_blocks_per_thread(CudaKernel kernel, Cipher cipher);

// Of the one that makes the keystream: of a stretch of data, or of segments. Where the shape leaves it open
// with as many threads as there can be. UsageError where it cannot have the shape; LaneError.
LaneKernelUse lane_kernel_use(CudaKernel kernel, Cipher cipher, bool of_segments, const KernelShape& shape);

}  // namespace gpuaes::cuda
