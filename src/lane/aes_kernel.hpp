// The kernels that CUDA lanes have for AES, as --kernel names them.
//
// To add one: its name here, its case in cuda/ctr.cuh, and in the man page what it gives up.
#pragma once

#include <array>
#include <string_view>

namespace gpuaes {

enum class AesKernel {
  bitslice,  // no address and no branch depends on key or data
  ttable,    // by tables in shared memory
};

inline constexpr AesKernel default_aes_kernel = AesKernel::bitslice;

// How a kernel is launched. 0: as was measured best when it was written.
struct KernelShape {
  unsigned threads = 0;            // of a CUDA block, a multiple of 32
  unsigned blocks_per_thread = 0;  // cipher blocks, as far as whole tiles allow
};

struct AesKernelInfo {
  AesKernel kernel;
  std::string_view name;
};

inline constexpr std::array aes_kernels{
    AesKernelInfo{AesKernel::bitslice, "bitslice"},
    AesKernelInfo{AesKernel::ttable, "ttable"},
};

}  // namespace gpuaes
