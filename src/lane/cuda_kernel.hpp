// The kernels of CUDA lanes and their names for --kernel. Each kernel exists for every cipher.
//
// To add one: add its enumerator and its row here, and its case in cuda/kernels/aes.cu,
// cuda/kernels/kuznyechik.cu and cuda/bench/kernel_cost.cpp (the limits of its speed). Add its name to the
// text of --kernel (cli/options.cpp), and document its trade-offs in the man page.
#pragma once

#include <array>
#include <string_view>

#include "base/rows.hpp"

namespace gpuaes {

enum class CudaKernel {
  bitslice,  // no branch or memory access depends on the key or the data
  ttable,    // lookup tables in shared memory
  last = ttable,
};

inline constexpr CudaKernel default_cuda_kernel = CudaKernel::bitslice;

struct CudaKernelInfo {
  CudaKernel kernel;
  std::string_view name;
};

inline constexpr std::array cuda_kernels{
    CudaKernelInfo{CudaKernel::bitslice, "bitslice"},
    CudaKernelInfo{CudaKernel::ttable, "ttable"},
};
static_assert(has_row_for_each(cuda_kernels, &CudaKernelInfo::kernel));

}  // namespace gpuaes
