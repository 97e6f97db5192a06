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

// How a kernel is launched. 0: as was measured best when it was written.
struct KernelShape {
  unsigned threads = 0;            // of a CUDA block, a multiple of 32
  unsigned blocks_per_thread = 0;  // cipher blocks, as far as whole tiles allow
};

struct CudaKernelInfo {
  CudaKernel kernel;
  std::string_view name;
};

inline constexpr std::array cuda_kernels{
    CudaKernelInfo{CudaKernel::bitslice, "bitslice"},
    CudaKernelInfo{CudaKernel::ttable, "ttable"},
};

}  // namespace gpuaes
