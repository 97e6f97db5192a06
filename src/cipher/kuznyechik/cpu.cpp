#include "cipher/kuznyechik/cpu.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>

#include "cipher/kuznyechik/ls_table.hpp"

namespace gpuaes {
namespace {

using kuznyechik::Block;

// 64 KiB. Lookups are secret-dependent memory accesses.
struct Tables {
  kuznyechik::LsTables tables = kuznyechik::make_ls_tables();
  BlockWords entry(unsigned index) const { return tables.entries[index]; }
};

void encrypt_by_tables(const kuznyechik::RoundKeys& keys, std::span<Block> blocks) {
  static const Tables tables;
  kuznyechik::KeyWords words = kuznyechik::make_key_words(keys);
  for (Block& block : blocks) {
    BlockWords one[1];
    std::memcpy(one, block.data(), sizeof block);
    kuznyechik::encrypt(one, words.data(), tables);
    std::memcpy(block.data(), one, sizeof block);
  }
  wipe(std::as_writable_bytes(std::span(words)));
}

const kuznyechik::SimdCode* find_supported(std::span<const kuznyechik::SimdCode> codes) {
  const auto found = std::ranges::find_if(codes, [](const auto& code) { return code.is_supported(); });
  return found == codes.end() ? nullptr : &*found;
}

}  // namespace

kuznyechik::SimdCodes kuznyechik::find_simd_codes() {
  return {find_supported(bitslice_simd_codes()), find_supported(shuffle_simd_codes())};
}

KuznyechikCpu::KuznyechikCpu(std::span<const std::byte> key, const kuznyechik::SimdCodes& codes)
    : codes_(codes) {
  new (&keys().round) kuznyechik::RoundKeys(kuznyechik::expand_key(key));  // leaves no copy on the stack
  prepare(keys().round, keys().simd.shuffle);
  prepare(keys().round, keys().simd.bitslice);
}

void KuznyechikCpu::encrypt(std::span<Block> blocks) const {
  for (const kuznyechik::SimdCode* code : {codes_.bitslice, codes_.shuffle})
    if (code != nullptr)
      for (; blocks.size() >= code->blocks; blocks = blocks.subspan(code->blocks))
        code->encrypt(keys().simd, blocks.data());
  if (blocks.empty()) return;
  if (codes_.shuffle == nullptr) return encrypt_by_tables(keys().round, blocks);
  std::array<Block, kuznyechik::max_shuffle_blocks> filled{};
  std::ranges::copy(blocks, filled.begin());
  codes_.shuffle->encrypt(keys().simd, filled.data());
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
