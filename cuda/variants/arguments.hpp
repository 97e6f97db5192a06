// What passes between variants.cpp and the kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cipher/aes_lookup.hpp"
#include "cipher/ctr.hpp"
#include "variants.hpp"

namespace gpuaes::cuda {

// The parameter of every kernel.
struct VariantArguments {
  std::uint32_t round_keys[60];
  int rounds;
  const aes::LookupTables* tables;  // in global memory
  cudaTextureObject_t texture;      // the words of the same
  Counter counter;
  std::uint64_t blocks;
  const std::byte* in;
  std::byte* out;
};

extern const std::array<Variant, 3> constant_variants;
extern const std::array<Variant, 3> global_variants;
extern const std::array<Variant, 2> texture_variants;
extern const std::array<Variant, 9> shared_variants;
extern const std::array<Variant, 9> banked_variants;

}  // namespace gpuaes::cuda
