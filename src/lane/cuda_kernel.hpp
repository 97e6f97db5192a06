// The kernels that CUDA lanes have for every cipher, as --kernel names them.
//
// To add one: its name here, its case in cuda/kernels/aes.cu and cuda/kernels/kuznyechik.cu, and in the man
// page what it gives up.
#pragma once

#include <array>
#include <string_view>

namespace gpuaes {

enum class CudaKernel {
  bitslice,  // no address and no branch depends on key or data
  ttable,    // by tables in shared memory
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

}  // namespace gpuaes
