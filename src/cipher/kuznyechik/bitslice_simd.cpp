// Bitsliced Kuznyechik with AVX-512 and AVX2.
#include <algorithm>
#include <cstring>

#include "cipher/kuznyechik/cpu.hpp"
#include "cipher/kuznyechik/vectors.hpp"

namespace gpuaes::kuznyechik {

#if defined(__x86_64__)

namespace avx2 {
namespace {
#define GPUAES_TARGET GPUAES_AVX2
#include "cipher/kuznyechik/bitslice_simd_body.hpp"
#undef GPUAES_TARGET
}  // namespace
}  // namespace avx2

namespace avx512 {
namespace {
#define GPUAES_TARGET GPUAES_AVX512
#include "cipher/kuznyechik/bitslice_simd_body.hpp"
#undef GPUAES_TARGET
}  // namespace
}  // namespace avx512

namespace {
constexpr std::array codes{
    SimdCode{"AVX-512-bitsliced", avx512::batch_blocks, avx512::is_supported, avx512::encrypt},
    SimdCode{"AVX2-bitsliced", avx2::batch_blocks, avx2::is_supported, avx2::encrypt}};
static_assert(std::ranges::max(codes, {}, &SimdCode::blocks).blocks == largest_batch);
}  // namespace

#else

namespace {
constexpr std::array<SimdCode, 0> codes{};
}

#endif

void prepare(const RoundKeys& keys, KeySlices& prepared) {
  std::array<std::uint32_t, sizeof keys.of / sizeof(std::uint32_t)> words;
  std::memcpy(words.data(), keys.of.data(), sizeof keys.of);
  for (unsigned i = 0; i < key_slices; ++i) prepared.words[i] = key_slice(words.data(), i);
  wipe(std::as_writable_bytes(std::span(words)));
}

std::span<const SimdCode> bitslice_simd_codes() {
  return codes;
}

}  // namespace gpuaes::kuznyechik
