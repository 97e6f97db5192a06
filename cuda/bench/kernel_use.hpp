// What the compiler and the device make of the kernels that lanes run.
#pragma once

#include "cipher/ciphers.hpp"
#include "kernels/kernels.hpp"
#include "variants/variants.hpp"

namespace gpuaes::cuda {

struct LaneKernelUse {
  KernelUse use;
  unsigned threads;  // of a CUDA block
};

// The kernel that makes the keystream: of data under consecutive counters, or of segments.
KernelFacts lane_kernel_facts(CudaKernel kernel, Cipher cipher, bool of_segments);

// Where the shape leaves it open with as many threads as there can be. UsageError where the kernel cannot
// have the shape; LaneError.
LaneKernelUse lane_kernel_use(const KernelFacts& facts, const KernelShape& shape);

}  // namespace gpuaes::cuda
