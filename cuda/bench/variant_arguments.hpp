// The arguments that variants.cpp passes to the kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "bench/aes_lookup.hpp"
#include "bench/variants.hpp"
#include "cipher/kuznyechik/ls_table.hpp"
#include "cipher/modes/ctr.hpp"

namespace gpuaes::cuda {

struct VariantTables {
  kuznyechik::LsTables ls;
  aes::LookupTables aes;
};

// The parameter of every kernel.
struct VariantArguments {
  std::uint32_t round_keys[max_key_words];
  int rounds;                   // for AES
  const VariantTables* tables;  // in global memory
  cudaTextureObject_t texture;  // the T-tables or LS tables in `tables`
  Counter counter;
  std::uint64_t blocks;
  const std::byte* in;
  std::byte* out;
};

Variant ls_constant_variant();

}  // namespace gpuaes::cuda
