// Kuznyechik with tables of 16 entries in registers, with GFNI, AVX2 and SSSE3.
#include "cipher/kuznyechik/cpu.hpp"
#include "cipher/kuznyechik/nibble_tables.hpp"
#include "cipher/kuznyechik/vectors.hpp"

namespace gpuaes::kuznyechik {

#if defined(__x86_64__)

namespace ssse3 {
namespace {
#define GPUAES_TARGET GPUAES_SSSE3
#include "cipher/kuznyechik/shuffle_simd_body.hpp"
#undef GPUAES_TARGET
}  // namespace
}  // namespace ssse3

namespace avx2 {
namespace {
#define GPUAES_TARGET GPUAES_AVX2
#include "cipher/kuznyechik/shuffle_simd_body.hpp"
#undef GPUAES_TARGET
}  // namespace
}  // namespace avx2

namespace gfni {
namespace {
using namespace avx2;
#define GPUAES_TARGET GPUAES_GFNI
#define GPUAES_HAS_MATRICES
#include "cipher/kuznyechik/shuffle_simd_body.hpp"
#undef GPUAES_HAS_MATRICES
#undef GPUAES_TARGET
}  // namespace
}  // namespace gfni

namespace {
constexpr std::array codes{SimdCode{"GFNI", sizeof(avx2::Vector), gfni::is_supported, gfni::encrypt},
                           SimdCode{"AVX2", sizeof(avx2::Vector), avx2::is_supported, avx2::encrypt},
                           SimdCode{"SSSE3", sizeof(ssse3::Vector), ssse3::is_supported, ssse3::encrypt}};
}

#else

namespace {
constexpr std::array<SimdCode, 0> codes{};
}

#endif

void prepare(const RoundKeys& keys, ShuffleKeys& prepared) {
  for (unsigned round = 0; round <= rounds; ++round)
    for (unsigned i = 0; i < 16; ++i) {
      // Indexing `split` by the byte would be a secret-dependent memory access.
      std::uint8_t byte = 0;
      for (unsigned bit = 0; bit < 8; ++bit)
        byte ^=
            static_cast<std::uint8_t>(split[1u << bit] & (0u - (unsigned{keys.of[round][i]} >> bit & 1u)));
      prepared.of[round].of[i].fill(byte);
    }
}

std::span<const SimdCode> shuffle_simd_codes() {
  return codes;
}

}  // namespace gpuaes::kuznyechik
