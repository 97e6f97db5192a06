#include "cipher/modes/mgm_cpu.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

#include "keys/kdf.hpp"
#include "keys/secret.hpp"

namespace gpuaes {
namespace {

using kuznyechik::Block;

constexpr std::size_t mgm_block_bytes = sizeof(Block);
constexpr std::size_t batch =
    kuznyechik::largest_batch / 2;  // blocks of keystream, and the same number of factors
constexpr std::size_t max_aad_blocks = max_aad_bytes / mgm_block_bytes;

constexpr std::size_t count_blocks(std::size_t bytes) {
  return (bytes + mgm_block_bytes - 1) / mgm_block_bytes;
}

// Secret blocks, wiped on destruction.
template <std::size_t count>
struct SecretBlocks {
  ~SecretBlocks() { wipe(std::as_writable_bytes(std::span(of))); }
  alignas(64) std::array<Block, count> of;
};

// Carry-less multiplication by an instruction: PCLMULQDQ on x86, PMULL on ARM. A vector is a number whose bit
// k is the coefficient of x^k.
#if defined(__x86_64__)

#define GPUAES_CLMUL [[gnu::target("pclmul,ssse3")]]
using Vector = __m128i;

bool have_clmul() {
  return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3");
}

GPUAES_CLMUL inline Vector load(const void* block) {
  const __m128i reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm_shuffle_epi8(_mm_loadu_si128(static_cast<const __m128i*>(block)), reversed);
}

// The product of the lower (0) or upper (1) half of each.
template <int of_x, int of_y>
GPUAES_CLMUL inline Vector multiply(Vector x, Vector y) {
  return _mm_clmulepi64_si128(x, y, of_y << 4 | of_x);
}

GPUAES_CLMUL inline Vector times_x64(Vector x) {
  return _mm_slli_si128(x, 8);
}
GPUAES_CLMUL inline Vector upper_half(Vector x) {
  return _mm_srli_si128(x, 8);
}

#elif defined(__aarch64__)

#define GPUAES_CLMUL [[gnu::target("+crypto")]]
using Vector = uint64x2_t;

bool have_clmul() {
  return (getauxval(AT_HWCAP) & HWCAP_PMULL) != 0;
}

GPUAES_CLMUL inline Vector load(const void* block) {
  const uint64x2_t halves =
      vreinterpretq_u64_u8(vrev64q_u8(vld1q_u8(static_cast<const std::uint8_t*>(block))));
  return vextq_u64(halves, halves, 1);
}

template <int of_x, int of_y>
GPUAES_CLMUL inline Vector multiply(Vector x, Vector y) {
  return vreinterpretq_u64_p128(vmull_p64(vgetq_lane_u64(x, of_x), vgetq_lane_u64(y, of_y)));
}

GPUAES_CLMUL inline Vector times_x64(Vector x) {
  return vextq_u64(vdupq_n_u64(0), x, 1);
}
GPUAES_CLMUL inline Vector upper_half(Vector x) {
  return vextq_u64(x, vdupq_n_u64(0), 1);
}

#endif

#if defined(GPUAES_CLMUL)

// Sums of the products of halves. The two middle products of a block have the same weight.
struct Sums {
  Vector low, middle, high;
};

GPUAES_CLMUL inline void add(Sums& sums, Vector x, Vector y) {
  sums.low ^= multiply<0, 0>(x, y);
  sums.middle ^= multiply<0, 1>(x, y) ^ multiply<1, 0>(x, y);
  sums.high ^= multiply<1, 1>(x, y);
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
  Vector words[2];
  std::memcpy(words, sum.words, sizeof words);
  words[0] ^= sums.low ^ times_x64(sums.middle);
  words[1] ^= sums.high ^ upper_half(sums.middle);
  std::memcpy(sum.words, words, sizeof words);
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
#if defined(GPUAES_CLMUL)
  if (have_clmul()) return add_products_clmul(factors, bytes, sum);
#endif
  add_products_portable(factors, bytes, sum);
}

// Encrypts or decrypts the text of one segment, and adds its products to `sum`. `counter` and `factor` are
// the counters of its first block.
void MgmCpu::crypt_text(const Text& text, Counter counter, Counter factor, Ciphertext ciphertext,
                        mgm::Product& sum) const {
  SecretBlocks<2 * batch> both;
  const std::size_t blocks = count_blocks(text.in.size());
  for (std::size_t at = 0; at < blocks; at += batch) {
    const std::size_t count = std::min(batch, blocks - at);
    const std::span keystream = std::span(both.of).first(count),
                    factors = std::span(both.of).subspan(count, count);
    std::uint64_t next = at;
    for (Block& each : keystream) each = store_counter(mgm::next_counter(counter, next++));
    next = at;
    for (Block& each : factors) each = store_counter(mgm::next_factor(factor, next++));
    cipher_.encrypt(std::span(both.of).first(2 * count));
    const std::size_t size = std::min(count * mgm_block_bytes, text.in.size() - at * mgm_block_bytes);
    const std::span<const std::byte> from = text.in.subspan(at * mgm_block_bytes, size);
    const std::span<std::byte> to = text.out.subspan(at * mgm_block_bytes, size);
    if (ciphertext == Ciphertext::in) add_products(factors, from, sum);
    add_keystream(keystream, from, to);
    if (ciphertext == Ciphertext::out) add_products(factors, to, sum);
  }
}

MgmCpu::Tags MgmCpu::crypt(std::span<const std::byte> aad, std::span<const Text> texts,
                           Ciphertext ciphertext) const {
  const std::size_t count = texts.size();
  SecretBlocks<2 * max_segments> first;
  const std::span counters = std::span(first.of).first(count),
                  first_factors = std::span(first.of).subspan(count, count);
  for (std::size_t i = 0; i < count; ++i) {
    counters[i] = mgm::counter_start(texts[i].nonce);
    first_factors[i] = mgm::factor_start(texts[i].nonce);
  }
  cipher_.encrypt(std::span(first.of).first(2 * count));

  // Factors of the associated data and of the lengths, which are before and after the ciphertext.
  const std::size_t aad_blocks = count_blocks(aad.size()), ends = aad_blocks + 1;
  SecretBlocks<max_segments*(max_aad_blocks + 1)> factors;
  for (std::size_t i = 0; i < count; ++i) {
    const Counter factor = load_counter(first_factors[i]);
    const std::span own = std::span(factors.of).subspan(i * ends, ends);
    for (std::size_t k = 0; k < aad_blocks; ++k) own[k] = store_counter(mgm::next_factor(factor, k));
    own[aad_blocks] = store_counter(mgm::next_factor(factor, aad_blocks + count_blocks(texts[i].in.size())));
  }
  cipher_.encrypt(std::span(factors.of).first(count * ends));

  Tags tags;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span own = std::span(factors.of).subspan(i * ends, ends);
    mgm::Product sum{};
    add_products(own.first(aad_blocks), aad, sum);
    const Block lengths = mgm::lengths(aad.size(), texts[i].in.size());
    add_products(own.last(1), std::as_bytes(std::span(lengths)), sum);
    crypt_text(texts[i], load_counter(counters[i]),
               mgm::next_factor(load_counter(first_factors[i]), aad_blocks), ciphertext, sum);
    ghash::store_bytes(mgm::reduce(sum), tags[i].data());
    wipe(std::as_writable_bytes(std::span(sum.words)));
  }
  cipher_.encrypt(std::span(tags).first(count));
  return tags;
}

void MgmCpu::seal(std::span<const std::byte> aad,
                  std::span<const Segment<std::byte, const std::byte>> segments) const {
  std::array<Text, max_segments> texts;
  std::ranges::transform(segments, texts.begin(), [](const auto& segment) -> Text {
    return {segment.nonce, segment.plain, segment.ciphertext()};
  });
  const Tags tags = crypt(aad, std::span(texts).first(segments.size()), Ciphertext::out);
  for (std::size_t i = 0; i < segments.size(); ++i)
    std::ranges::copy(std::as_bytes(std::span(tags[i])), segments[i].tag().begin());
}

std::optional<std::size_t> MgmCpu::open(std::span<const std::byte> aad,
                                        std::span<const Segment<const std::byte, std::byte>> segments) const {
  std::array<Text, max_segments> texts;
  std::ranges::transform(segments, texts.begin(), [](const auto& segment) -> Text {
    return {segment.nonce, segment.ciphertext(), segment.plain};
  });
  const Tags tags = crypt(aad, std::span(texts).first(segments.size()), Ciphertext::in);
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (!is_equal(std::as_bytes(std::span(tags[i])), segments[i].tag())) return i;
  return std::nullopt;
}

}  // namespace gpuaes
