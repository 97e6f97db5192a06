// What kernels take of that which a device has limits of, and so how fast they can be at most.
#pragma once

#include <string_view>

#include "bench/limits.hpp"
#include "cipher/ciphers.hpp"
#include "lane/cuda_kernel.hpp"
#include "variants/variants.hpp"

namespace gpuaes::cuda {

// For one cipher block, by all threads that work on it. Counted are the things that cannot be left out, so
// that a kernel is slower than its limit, never faster.
struct KernelCost {
  double memory_bytes = 32;  // read once and written once
  double logic = 0;  // of what the same units do: LOP3, PRMT, shifts to the right; those to the left may be
                     // multiplications, of which there are units to spare
  double multiplications = 0;
  double shuffles = 0;
  double loads_of_own_bank = 0;
  double loads_of_256_words = 0;
  double loads_of_256_bytes = 0;
  double loads_of_256_blocks = 0;
};

KernelCost cost_of(CudaKernel kernel, Cipher cipher, bool with_tag);
KernelCost cost_of(const Variant& variant, Cipher cipher, Mode mode);

struct KernelLimit {
  std::string_view name;  // "memory", "logic", "multiplication", "shuffle" or "shared memory"
  double gb_per_s;        // of data
};

// The one that comes first.
KernelLimit min_limit(const DeviceLimits& limits, const KernelCost& cost);

}  // namespace gpuaes::cuda
