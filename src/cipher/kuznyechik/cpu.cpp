#include "cipher/kuznyechik/cpu.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "cipher/simd_gates.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace gpuaes {
namespace kuznyechik {

#ifdef __x86_64__

namespace avx512 {
namespace {
constexpr std::size_t vector_bytes = 64;
bool is_supported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}
#define GPUAES_TARGET [[gnu::target("avx512f,avx512bw")]]
#define GPUAES_TERNARY _mm512_ternarylogic_epi64
#include "cipher/kuznyechik/cpu_body.hpp"
#undef GPUAES_TERNARY
#undef GPUAES_TARGET
}  // namespace
}  // namespace avx512

namespace avx2 {
namespace {
constexpr std::size_t vector_bytes = 32;
bool is_supported() {
  return __builtin_cpu_supports("avx2");
}
#define GPUAES_TARGET [[gnu::target("avx2")]]
#include "cipher/kuznyechik/cpu_body.hpp"
#undef GPUAES_TARGET
}  // namespace
}  // namespace avx2

#endif

// What every CPU of the target has, such as SSE2 or NEON.
namespace baseline {
namespace {
constexpr std::size_t vector_bytes = 16;
bool is_supported() {
  return true;
}
#define GPUAES_TARGET
#include "cipher/kuznyechik/cpu_body.hpp"
#undef GPUAES_TARGET
}  // namespace
}  // namespace baseline

namespace {

constexpr std::array codes{
#ifdef __x86_64__
    SimdCode{"AVX-512", avx512::batch_blocks, avx512::is_supported, avx512::encrypt},
    SimdCode{"AVX2", avx2::batch_blocks, avx2::is_supported, avx2::encrypt},
#endif
    SimdCode{"baseline", baseline::batch_blocks, baseline::is_supported, baseline::encrypt}};
static_assert(std::ranges::max(codes, {}, &SimdCode::blocks).blocks <= largest_batch);

}  // namespace

std::span<const SimdCode> simd_codes() {
  return codes;
}

const SimdCode& find_simd_code() {
  return *std::ranges::find_if(codes, [](const SimdCode& code) { return code.is_supported(); });
}

}  // namespace kuznyechik

using kuznyechik::Block;

KuznyechikCpu::KuznyechikCpu(std::span<const std::byte> key, const kuznyechik::SimdCode& code) : code_(code) {
  kuznyechik::RoundKeys round_keys = kuznyechik::expand_key(key);
  std::array<std::uint32_t, sizeof round_keys / sizeof(std::uint32_t)> words;
  std::memcpy(words.data(), &round_keys, sizeof round_keys);
  for (unsigned i = 0; i < kuznyechik::key_slices; ++i)
    keys().words[i] = kuznyechik::key_slice(words.data(), i);
  wipe(std::as_writable_bytes(std::span(words)));
  wipe(std::as_writable_bytes(std::span(round_keys.of)));
}

void KuznyechikCpu::encrypt(std::span<Block> blocks) const {
  for (; blocks.size() >= code_.blocks; blocks = blocks.subspan(code_.blocks))
    code_.encrypt(keys(), blocks.data());
  if (blocks.empty()) return;
  // Code with narrower vectors would take as long for fewer blocks.
  std::array<Block, kuznyechik::largest_batch> filled{};
  std::ranges::copy(blocks, filled.begin());
  code_.encrypt(keys(), filled.data());
  std::copy_n(filled.begin(), blocks.size(), blocks.begin());
  wipe(std::as_writable_bytes(std::span(filled)));
}

void KuznyechikCpu::ctr(Counter first, std::span<const std::byte> in, std::span<std::byte> out) const {
  std::array<Block, kuznyechik::largest_batch> keystream;
  for (std::size_t at = 0; at < in.size(); at += sizeof keystream) {
    const std::size_t size = std::min(in.size() - at, sizeof keystream);
    const std::span blocks = std::span(keystream).first((size + sizeof(Block) - 1) / sizeof(Block));
    for (Block& block : blocks) {
      block = store_counter(first);
      first = first + 1;
    }
    encrypt(blocks);
    add_keystream(blocks, in.subspan(at, size), out.subspan(at, size));
  }
  wipe(std::as_writable_bytes(std::span(keystream)));
}

void add_keystream(std::span<const Block> keystream, std::span<const std::byte> in,
                   std::span<std::byte> out) {
  const std::size_t whole = in.size() / sizeof(Block);
  for (std::size_t i = 0; i < whole; ++i) {
    Block block;
    std::memcpy(block.data(), &in[i * sizeof block], sizeof block);
    block = kuznyechik::add(block, keystream[i]);
    std::memcpy(&out[i * sizeof block], block.data(), sizeof block);
  }
  for (std::size_t i = whole * sizeof(Block); i < in.size(); ++i)
    out[i] = in[i] ^ std::byte{keystream[whole][i % sizeof(Block)]};
}

}  // namespace gpuaes
