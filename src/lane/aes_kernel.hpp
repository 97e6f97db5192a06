// The kernels that CUDA lanes have for AES, as --kernel names them.
//
// To add one: its name here, its case in cuda/ctr.cuh, and in the man page what it gives up.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace gpuaes {

enum class AesKernel {
  bitslice,  // no address and no branch depends on key or data
  ttable,    // by tables in shared memory
};

struct AesKernelInfo {
  AesKernel kernel;
  std::string_view name;
};

inline constexpr std::array aes_kernels{
    AesKernelInfo{AesKernel::bitslice, "bitslice"},
    AesKernelInfo{AesKernel::ttable, "ttable"},
};

constexpr std::optional<AesKernel> find_aes_kernel(std::string_view name) {
  for (const AesKernelInfo& each : aes_kernels)
    if (each.name == name) return each.kernel;
  return std::nullopt;
}

}  // namespace gpuaes
