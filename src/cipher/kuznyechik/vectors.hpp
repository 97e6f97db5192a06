// The SIMD vectors of each x86 instruction set, and the operations on them that Kuznyechik uses. Each set has
// a namespace with the same names, because a function can only be inlined into code that is compiled for the
// same instructions. Files that end in _body.hpp are compiled once in each namespace.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/simd_gates.hpp"

#define GPUAES_SSSE3 [[gnu::target("ssse3")]]
#define GPUAES_AVX2 [[gnu::target("avx2")]]
#define GPUAES_GFNI [[gnu::target("avx2,gfni")]]
#define GPUAES_AVX512 [[gnu::target("avx512f,avx512bw")]]

namespace gpuaes::kuznyechik::ssse3 {

inline bool is_supported() {
  return __builtin_cpu_supports("ssse3");
}

using Vector = __m128i;

GPUAES_SSSE3 inline Vector fill(char byte) {
  return _mm_set1_epi8(byte);
}
GPUAES_SSSE3 inline Vector repeat(__m128i x) {
  return x;
}
GPUAES_SSSE3 inline Vector load_aligned(const std::uint8_t* bytes) {
  return _mm_load_si128(reinterpret_cast<const Vector*>(bytes));
}
GPUAES_SSSE3 inline Vector load_row(const Block* blocks, unsigned row) {
  return _mm_loadu_si128(reinterpret_cast<const Vector*>(blocks + row));
}
GPUAES_SSSE3 inline void store_row(Block* blocks, unsigned row, Vector x) {
  _mm_storeu_si128(reinterpret_cast<Vector*>(blocks + row), x);
}
GPUAES_SSSE3 inline Vector interleave_lower(Vector a, Vector b) {
  return _mm_unpacklo_epi8(a, b);
}
GPUAES_SSSE3 inline Vector interleave_upper(Vector a, Vector b) {
  return _mm_unpackhi_epi8(a, b);
}
template <int distance>
GPUAES_SSSE3 inline Vector shift_right(Vector x) {
  return _mm_srli_epi16(x, distance);
}
GPUAES_SSSE3 inline Vector look_up(Vector table, Vector index) {
  return _mm_shuffle_epi8(table, index);
}
GPUAES_SSSE3 inline Vector add_bytes(Vector a, Vector b) {
  return _mm_add_epi8(a, b);
}
GPUAES_SSSE3 inline Vector subtract_bytes(Vector a, Vector b) {
  return _mm_sub_epi8(a, b);
}
GPUAES_SSSE3 inline Vector smaller(Vector a, Vector b) {
  return _mm_min_epu8(a, b);
}

}  // namespace gpuaes::kuznyechik::ssse3

namespace gpuaes::kuznyechik::avx2 {

inline bool is_supported() {
  return __builtin_cpu_supports("avx2");
}

using Vector = __m256i;

GPUAES_AVX2 inline Vector fill(char byte) {
  return _mm256_set1_epi8(byte);
}
GPUAES_AVX2 inline Vector repeat(std::uint32_t word) {
  return _mm256_set1_epi32(static_cast<int>(word));
}
GPUAES_AVX2 inline Vector repeat(__m128i x) {
  return _mm256_broadcastsi128_si256(x);
}
GPUAES_AVX2 inline Vector load(const Block* blocks) {
  return _mm256_loadu_si256(reinterpret_cast<const Vector*>(blocks));
}
GPUAES_AVX2 inline void store(Block* blocks, Vector x) {
  _mm256_storeu_si256(reinterpret_cast<Vector*>(blocks), x);
}
GPUAES_AVX2 inline Vector load_aligned(const std::uint8_t* bytes) {
  return _mm256_load_si256(reinterpret_cast<const Vector*>(bytes));
}
// Each half of a vector holds 16 different blocks, because transpose() works within halves.
GPUAES_AVX2 inline Vector load_row(const Block* blocks, unsigned row) {
  return _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(blocks + 16 + row),
                             reinterpret_cast<const __m128i*>(blocks + row));
}
GPUAES_AVX2 inline void store_row(Block* blocks, unsigned row, Vector x) {
  _mm256_storeu2_m128i(reinterpret_cast<__m128i*>(blocks + 16 + row),
                       reinterpret_cast<__m128i*>(blocks + row), x);
}
GPUAES_AVX2 inline Vector interleave_lower(Vector a, Vector b) {
  return _mm256_unpacklo_epi8(a, b);
}
GPUAES_AVX2 inline Vector interleave_upper(Vector a, Vector b) {
  return _mm256_unpackhi_epi8(a, b);
}
template <int distance>
GPUAES_AVX2 inline Vector shift_left(Vector x) {
  return _mm256_slli_epi16(x, distance);
}
template <int distance>
GPUAES_AVX2 inline Vector shift_right(Vector x) {
  return _mm256_srli_epi16(x, distance);
}
GPUAES_AVX2 inline Vector look_up(Vector table, Vector index) {
  return _mm256_shuffle_epi8(table, index);
}
GPUAES_AVX2 inline Vector add_bytes(Vector a, Vector b) {
  return _mm256_add_epi8(a, b);
}
GPUAES_AVX2 inline Vector subtract_bytes(Vector a, Vector b) {
  return _mm256_sub_epi8(a, b);
}
GPUAES_AVX2 inline Vector smaller(Vector a, Vector b) {
  return _mm256_min_epu8(a, b);
}
template <unsigned table>
GPUAES_AVX2 inline Vector logic(Vector a, Vector b, Vector c) {
  constexpr Recipe recipe = recipes[table];
  if constexpr (table == table_a)
    return a;
  else if constexpr (table == table_b)
    return b;
  else if constexpr (table == table_c)
    return c;
  else if constexpr (table == table_ones)
    return fill(-1);
  else {
    const Vector left = logic<recipe.left>(a, b, c), right = logic<recipe.right>(a, b, c);
    if constexpr (recipe.gate == Gate::both) return _mm256_and_si256(left, right);
    if constexpr (recipe.gate == Gate::either) return _mm256_or_si256(left, right);
    if constexpr (recipe.gate == Gate::sum) return _mm256_xor_si256(left, right);
    if constexpr (recipe.gate == Gate::only_right) return _mm256_andnot_si256(left, right);
  }
}
GPUAES_AVX2 inline Vector add(Vector a, Vector b, Vector c) {
  return a ^ b ^ c;
}

}  // namespace gpuaes::kuznyechik::avx2

// AVX2, and an instruction that multiplies bytes by a bit matrix.
namespace gpuaes::kuznyechik::gfni {

inline bool is_supported() {
  return avx2::is_supported() && __builtin_cpu_supports("gfni");
}

GPUAES_GFNI inline avx2::Vector multiply_by_matrix(std::uint64_t matrix, avx2::Vector x) {
  return _mm256_gf2p8affine_epi64_epi8(x, _mm256_set1_epi64x(static_cast<long long>(matrix)), 0);
}

}  // namespace gpuaes::kuznyechik::gfni

namespace gpuaes::kuznyechik::avx512 {

inline bool is_supported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

using Vector = __m512i;

GPUAES_AVX512 inline Vector fill(char byte) {
  return _mm512_set1_epi8(byte);
}
GPUAES_AVX512 inline Vector repeat(std::uint32_t word) {
  return _mm512_set1_epi32(static_cast<int>(word));
}
GPUAES_AVX512 inline Vector load(const Block* blocks) {
  return _mm512_loadu_si512(blocks);
}
GPUAES_AVX512 inline void store(Block* blocks, Vector x) {
  _mm512_storeu_si512(blocks, x);
}
GPUAES_AVX512 inline Vector interleave_lower(Vector a, Vector b) {
  return _mm512_unpacklo_epi8(a, b);
}
GPUAES_AVX512 inline Vector interleave_upper(Vector a, Vector b) {
  return _mm512_unpackhi_epi8(a, b);
}
template <int distance>
GPUAES_AVX512 inline Vector shift_left(Vector x) {
  return _mm512_slli_epi16(x, distance);
}
template <int distance>
GPUAES_AVX512 inline Vector shift_right(Vector x) {
  return _mm512_srli_epi16(x, distance);
}
// The instruction's immediate operand is the table.
template <unsigned table>
GPUAES_AVX512 inline Vector logic(Vector a, Vector b, Vector c) {
  return _mm512_ternarylogic_epi64(a, b, c, table);
}
GPUAES_AVX512 inline Vector add(Vector a, Vector b, Vector c) {
  return logic<0x96>(a, b, c);
}

}  // namespace gpuaes::kuznyechik::avx512

#endif
