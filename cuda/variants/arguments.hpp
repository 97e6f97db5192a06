// The arguments that variants.cpp passes to the kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cipher/kuznyechik/ls_table.hpp"
#include "cipher/modes/ctr.hpp"
#include "variants/aes_lookup.hpp"
#include "variants/variants.hpp"

namespace gpuaes::cuda {

// All tables of the variants for one direction.
struct VariantTables {
  kuznyechik::LsTables ls;
  aes::LookupTables aes;
  std::uint8_t substitution[256];  // Kuznyechik's pi, for both directions
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

extern const std::array<Variant, 3> constant_variants;
extern const std::array<Variant, 1> ls_constant_variants;
extern const std::array<Variant, 4> global_variants;
extern const std::array<Variant, 3> texture_variants;
extern const std::array<Variant, 10> shared_variants;
extern const std::array<Variant, 9> banked_variants;

}  // namespace gpuaes::cuda
