#include "cipher/kuznyechik/simd.hpp"

#include <algorithm>
#include <cstring>

#include "cipher/kuznyechik/nibble_tables.hpp"
#include "keys/secret.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gpuaes::kuznyechik {
namespace {

#if defined(__x86_64__)

namespace ssse3 {

#define GPUAES_TARGET [[gnu::target("ssse3")]]

using Vector = __m128i;

GPUAES_TARGET inline Vector repeat(__m128i x) {
  return x;
}
GPUAES_TARGET inline Vector fill(char byte) {
  return _mm_set1_epi8(byte);
}
GPUAES_TARGET inline Vector look_up(Vector table, Vector index) {
  return _mm_shuffle_epi8(table, index);
}
GPUAES_TARGET inline Vector shift_right_4(Vector x) {
  return _mm_srli_epi16(x, 4);
}
GPUAES_TARGET inline Vector add_bytes(Vector a, Vector b) {
  return _mm_add_epi8(a, b);
}
GPUAES_TARGET inline Vector subtract_bytes(Vector a, Vector b) {
  return _mm_sub_epi8(a, b);
}
GPUAES_TARGET inline Vector smaller(Vector a, Vector b) {
  return _mm_min_epu8(a, b);
}
GPUAES_TARGET inline Vector interleave_lower(Vector a, Vector b) {
  return _mm_unpacklo_epi8(a, b);
}
GPUAES_TARGET inline Vector interleave_upper(Vector a, Vector b) {
  return _mm_unpackhi_epi8(a, b);
}
GPUAES_TARGET inline Vector load(const std::uint8_t* bytes) {
  return _mm_load_si128(reinterpret_cast<const Vector*>(bytes));
}
GPUAES_TARGET inline Vector load_row(const Block* blocks, unsigned row) {
  return _mm_loadu_si128(reinterpret_cast<const Vector*>(blocks + row));
}
GPUAES_TARGET inline void store_row(Block* blocks, unsigned row, Vector x) {
  _mm_storeu_si128(reinterpret_cast<Vector*>(blocks + row), x);
}

#include "cipher/kuznyechik/shuffle_simd_body.hpp"

#undef GPUAES_TARGET

}  // namespace ssse3

namespace avx2 {

#define GPUAES_TARGET [[gnu::target("avx2")]]

using Vector = __m256i;

GPUAES_TARGET inline Vector repeat(__m128i x) {
  return _mm256_broadcastsi128_si256(x);
}
GPUAES_TARGET inline Vector fill(char byte) {
  return _mm256_set1_epi8(byte);
}
GPUAES_TARGET inline Vector look_up(Vector table, Vector index) {
  return _mm256_shuffle_epi8(table, index);
}
GPUAES_TARGET inline Vector shift_right_4(Vector x) {
  return _mm256_srli_epi16(x, 4);
}
GPUAES_TARGET inline Vector add_bytes(Vector a, Vector b) {
  return _mm256_add_epi8(a, b);
}
GPUAES_TARGET inline Vector subtract_bytes(Vector a, Vector b) {
  return _mm256_sub_epi8(a, b);
}
GPUAES_TARGET inline Vector smaller(Vector a, Vector b) {
  return _mm256_min_epu8(a, b);
}
GPUAES_TARGET inline Vector interleave_lower(Vector a, Vector b) {
  return _mm256_unpacklo_epi8(a, b);
}
GPUAES_TARGET inline Vector interleave_upper(Vector a, Vector b) {
  return _mm256_unpackhi_epi8(a, b);
}
GPUAES_TARGET inline Vector load(const std::uint8_t* bytes) {
  return _mm256_load_si256(reinterpret_cast<const Vector*>(bytes));
}
// Either half of a vector has 16 blocks of its own, which transpose() leaves apart.
GPUAES_TARGET inline Vector load_row(const Block* blocks, unsigned row) {
  return _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(blocks + 16 + row),
                             reinterpret_cast<const __m128i*>(blocks + row));
}
GPUAES_TARGET inline void store_row(Block* blocks, unsigned row, Vector x) {
  _mm256_storeu2_m128i(reinterpret_cast<__m128i*>(blocks + 16 + row),
                       reinterpret_cast<__m128i*>(blocks + row), x);
}

#include "cipher/kuznyechik/shuffle_simd_body.hpp"

#undef GPUAES_TARGET

}  // namespace avx2

namespace gfni {

using namespace avx2;  // but for what the body defines once more

#define GPUAES_TARGET [[gnu::target("avx2,gfni")]]
#define GPUAES_AFFINE(x, matrix) \
  _mm256_gf2p8affine_epi64_epi8(x, _mm256_set1_epi64x(static_cast<long long>(matrix)), 0)

#include "cipher/kuznyechik/shuffle_simd_body.hpp"

#undef GPUAES_AFFINE
#undef GPUAES_TARGET

}  // namespace gfni

bool has_gfni() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("gfni");
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2");
}
bool has_ssse3() {
  return __builtin_cpu_supports("ssse3");
}

constexpr std::array codes{VectorCode{"GFNI", 32, has_gfni, gfni::encrypt},
                           VectorCode{"AVX2", 32, has_avx2, avx2::encrypt},
                           VectorCode{"SSSE3", 16, has_ssse3, ssse3::encrypt}};

#else

constexpr std::array<VectorCode, 0> codes{};

#endif

void spread(const RoundKeys& keys, SpreadKeys& spread) {
  for (unsigned round = 0; round <= rounds; ++round)
    for (unsigned i = 0; i < 16; ++i) {
      // Not by the table `split`, whose addresses would be secret.
      std::uint8_t byte = 0;
      for (unsigned bit = 0; bit < 8; ++bit)
        byte ^=
            static_cast<std::uint8_t>(split[1u << bit] & (0u - (unsigned{keys.of[round][i]} >> bit & 1u)));
      spread.of[round].of[i].fill(byte);
    }
}

void slice(const RoundKeys& keys, KeySlices& slices) {
  std::array<std::uint32_t, sizeof keys.of / sizeof(std::uint32_t)> words;
  std::memcpy(words.data(), keys.of.data(), sizeof keys.of);
  for (unsigned i = 0; i < key_slices; ++i) slices.words[i] = key_slice(words.data(), i);
  wipe(std::as_writable_bytes(std::span(words)));
}

const VectorCode* find_first(std::span<const VectorCode> all) {
  const auto found = std::ranges::find_if(all, [](const VectorCode& code) { return code.is_here(); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

void prepare(const RoundKeys& keys, VectorKeys& prepared) {
  spread(keys, prepared.spread);
  slice(keys, prepared.slices);
}

std::span<const VectorCode> lookup_codes() {
  return codes;
}

VectorCodes find_vector_codes() {
  return {find_first(sliced_codes()), find_first(lookup_codes())};
}

}  // namespace gpuaes::kuznyechik
