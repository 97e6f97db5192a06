// The resources of a device that kernels need, and the resulting upper bound on their speed.
#pragma once

#include <string_view>

#include "bench/limits.hpp"
#include "cipher/ciphers.hpp"
#include "variants/variants.hpp"

namespace gpuaes::cuda {

// The cost of one cipher block, for all threads that work on it. Only unavoidable work counts, so no kernel
// is faster than its limit.
struct KernelCost {
  double memory_bytes = 32;  // read once and written once
  // LOP3, PRMT and right shifts, which share units. Left shifts may be multiplications, whose units have
  // capacity to spare.
  double logic = 0;
  double multiplications = 0;
  double shuffles = 0;
  double loads_of_own_bank = 0;
  double loads_of_256_words = 0;
  double loads_of_256_bytes = 0;
  double loads_of_256_blocks = 0;
};

KernelCost filter_kernel_cost(Cipher cipher, bool with_tag);
KernelCost table_kernel_cost(Cipher cipher);
KernelCost variant_cost(const Variant& variant, Cipher cipher, Mode mode);

struct KernelLimit {
  std::string_view name;  // "memory", "logic", "multiplication", "shuffle" or "shared memory"
  double gb_per_s;        // of data
};

// The tightest limit.
KernelLimit min_limit(const DeviceLimits& limits, const KernelCost& cost);

}  // namespace gpuaes::cuda
