#include "cipher/modes/carryless.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gpuaes {
namespace {

using kuznyechik::Block;

#if defined(__x86_64__)

#define GPUAES_CLMUL [[gnu::target("pclmul,ssse3")]]

// Loads a block as a number whose bit k is the coefficient of x^k.
GPUAES_CLMUL inline __m128i load(const void* block) {
  const __m128i reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm_shuffle_epi8(_mm_loadu_si128(static_cast<const __m128i*>(block)), reversed);
}

// Sums of the products of 64-bit halves. The two middle products of a block have the same weight.
struct Sums {
  __m128i low, middle, high;
};

GPUAES_CLMUL inline void add(Sums& sums, __m128i x, __m128i y) {
  sums.low = _mm_xor_si128(sums.low, _mm_clmulepi64_si128(x, y, 0x00));
  sums.high = _mm_xor_si128(sums.high, _mm_clmulepi64_si128(x, y, 0x11));
  const __m128i crossed = _mm_xor_si128(_mm_clmulepi64_si128(x, y, 0x01), _mm_clmulepi64_si128(x, y, 0x10));
  sums.middle = _mm_xor_si128(sums.middle, crossed);
}

GPUAES_CLMUL void add_products_clmul(std::span<const Block> factors, std::span<const std::byte> bytes,
                                     mgm::Product& sum) {
  Sums sums{};
  const std::size_t whole = bytes.size() / sizeof(Block), rest = bytes.size() % sizeof(Block);
  for (std::size_t i = 0; i < whole; ++i)
    add(sums, load(factors[i].data()), load(bytes.data() + i * sizeof(Block)));
  if (rest > 0) {
    Block last{};
    std::memcpy(last.data(), bytes.data() + whole * sizeof(Block), rest);
    add(sums, load(factors[whole].data()), load(last.data()));
  }
  const __m128i low = _mm_xor_si128(sums.low, _mm_slli_si128(sums.middle, 8));
  const __m128i high = _mm_xor_si128(sums.high, _mm_srli_si128(sums.middle, 8));
  auto* const words = reinterpret_cast<__m128i*>(sum.words);
  _mm_storeu_si128(words, _mm_xor_si128(_mm_loadu_si128(words), low));
  _mm_storeu_si128(words + 1, _mm_xor_si128(_mm_loadu_si128(words + 1), high));
}

#endif

}  // namespace

void add_products_portable(std::span<const Block> factors, std::span<const std::byte> bytes,
                           mgm::Product& sum) {
  for (const Block& factor : factors) {
    const auto size = static_cast<unsigned>(std::min(bytes.size(), sizeof(Block)));
    const auto* const block = reinterpret_cast<const std::uint8_t*>(bytes.data());
    mgm::add_product(ghash::load_bytes(factor.data()), ghash::load_bytes(block, size), sum);
    bytes = bytes.subspan(size);
  }
}

void add_products(std::span<const Block> factors, std::span<const std::byte> bytes, mgm::Product& sum) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3"))
    return add_products_clmul(factors, bytes, sum);
#endif
  add_products_portable(factors, bytes, sum);
}

}  // namespace gpuaes
