// The kernels that CUDA lanes have for every cipher, as --kernel names them.
//
// To add one: its enumerator and its row here, its case in cuda/kernels/aes.cu and
// cuda/kernels/kuznyechik.cu, and in the man page what it gives up.
#pragma once

#include <array>
#include <string_view>

#include "base/rows.hpp"

namespace gpuaes {

enum class CudaKernel {
  bitslice,  // no address and no branch depends on key or data
  ttable,    // by tables in shared memory
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
