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

// 64 KiB, which are looked up at secret addresses.
struct Tables {
  kuznyechik::LsTables tables = kuznyechik::make_ls_tables(Direction::encrypt);
  BlockWords entry(unsigned index) const { return tables.entries[index]; }
};

void encrypt_by_tables(const kuznyechik::RoundKeys& keys, std::span<Block> blocks) {
  static const Tables tables;
  kuznyechik::KeyWords words = kuznyechik::make_key_words(keys, Direction::encrypt);
  for (Block& block : blocks) {
    BlockWords one[1];
    std::memcpy(one, block.data(), sizeof block);
    kuznyechik::encrypt(one, words.data(), tables);
    std::memcpy(block.data(), one, sizeof block);
  }
  wipe(std::as_writable_bytes(std::span(words)));
}

}  // namespace

KuznyechikCpu::KuznyechikCpu(std::span<const std::byte> key, const kuznyechik::VectorCodes& codes)
    : codes_(codes) {
  new (&keys().round) kuznyechik::RoundKeys(kuznyechik::expand_key(key));  // no copy is left on the stack
  kuznyechik::prepare(keys().round, keys().vector);
}

void KuznyechikCpu::encrypt(std::span<Block> blocks) const {
  for (const kuznyechik::VectorCode* code : {codes_.batches, codes_.rest})
    if (code != nullptr)
      for (; blocks.size() >= code->blocks; blocks = blocks.subspan(code->blocks))
        code->encrypt(keys().vector, blocks.data());
  if (blocks.empty()) return;
  if (codes_.rest == nullptr) return encrypt_by_tables(keys().round, blocks);
  std::array<Block, kuznyechik::widest_vector> filled{};
  std::ranges::copy(blocks, filled.begin());
  codes_.rest->encrypt(keys().vector, filled.data());
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
