// The bitsliced codes of kuznyechik_vector.hpp.
#include "cipher/kuznyechik/bitslice.hpp"
#include "cipher/kuznyechik/simd.hpp"
#include "cipher/simd_gates.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gpuaes::kuznyechik {
namespace {

#if defined(__x86_64__)

namespace avx2 {

#define GPUAES_TARGET [[gnu::target("avx2")]]

using Vector = __m256i;

GPUAES_TARGET inline Vector fill(char byte) {
  return _mm256_set1_epi8(byte);
}
GPUAES_TARGET inline Vector repeat(std::uint32_t word) {
  return _mm256_set1_epi32(static_cast<int>(word));
}
GPUAES_TARGET inline Vector load(const Block* blocks) {
  return _mm256_loadu_si256(reinterpret_cast<const Vector*>(blocks));
}
GPUAES_TARGET inline void store(Block* blocks, Vector x) {
  _mm256_storeu_si256(reinterpret_cast<Vector*>(blocks), x);
}
GPUAES_TARGET inline Vector interleave_lower(Vector a, Vector b) {
  return _mm256_unpacklo_epi8(a, b);
}
GPUAES_TARGET inline Vector interleave_upper(Vector a, Vector b) {
  return _mm256_unpackhi_epi8(a, b);
}
template <int distance>
GPUAES_TARGET inline Vector shift_left(Vector x) {
  return _mm256_slli_epi16(x, distance);
}
template <int distance>
GPUAES_TARGET inline Vector shift_right(Vector x) {
  return _mm256_srli_epi16(x, distance);
}
template <unsigned table>
GPUAES_TARGET inline Vector logic(Vector a, Vector b, Vector c) {
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
GPUAES_TARGET inline Vector add(Vector a, Vector b, Vector c) {
  return a ^ b ^ c;
}

#include "cipher/kuznyechik/bitslice_simd_body.hpp"

#undef GPUAES_TARGET

}  // namespace avx2

namespace avx512 {

#define GPUAES_TARGET [[gnu::target("avx512f,avx512bw")]]

using Vector = __m512i;

GPUAES_TARGET inline Vector fill(char byte) {
  return _mm512_set1_epi8(byte);
}
GPUAES_TARGET inline Vector repeat(std::uint32_t word) {
  return _mm512_set1_epi32(static_cast<int>(word));
}
GPUAES_TARGET inline Vector load(const Block* blocks) {
  return _mm512_loadu_si512(blocks);
}
GPUAES_TARGET inline void store(Block* blocks, Vector x) {
  _mm512_storeu_si512(blocks, x);
}
GPUAES_TARGET inline Vector interleave_lower(Vector a, Vector b) {
  return _mm512_unpacklo_epi8(a, b);
}
GPUAES_TARGET inline Vector interleave_upper(Vector a, Vector b) {
  return _mm512_unpackhi_epi8(a, b);
}
template <int distance>
GPUAES_TARGET inline Vector shift_left(Vector x) {
  return _mm512_slli_epi16(x, distance);
}
template <int distance>
GPUAES_TARGET inline Vector shift_right(Vector x) {
  return _mm512_srli_epi16(x, distance);
}
// The instruction's immediate operand is the table.
template <unsigned table>
GPUAES_TARGET inline Vector logic(Vector a, Vector b, Vector c) {
  return _mm512_ternarylogic_epi64(a, b, c, table);
}
GPUAES_TARGET inline Vector add(Vector a, Vector b, Vector c) {
  return logic<0x96>(a, b, c);
}

#include "cipher/kuznyechik/bitslice_simd_body.hpp"

#undef GPUAES_TARGET

}  // namespace avx512

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2");
}

constexpr std::array codes{
    VectorCode{"AVX-512-bitsliced", avx512::sliced_blocks, has_avx512, avx512::encrypt},
    VectorCode{"AVX2-bitsliced", avx2::sliced_blocks, has_avx2, avx2::encrypt}};

#else

constexpr std::array<VectorCode, 0> codes{};

#endif

}  // namespace

std::span<const VectorCode> sliced_codes() {
  return codes;
}

}  // namespace gpuaes::kuznyechik
