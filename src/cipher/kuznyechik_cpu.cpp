#include "cipher/kuznyechik_cpu.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "cipher/secret.hpp"

namespace gpuaes {
namespace {

using kuznyechik::Block;

// A block, as the machine loads it.
struct Words {
  std::uint64_t of[2];
};

Words load(const Block& block) {
  Words words;
  std::memcpy(words.of, block.data(), sizeof words);
  return words;
}

// L S, by what each byte of a block adds to it: 64 KiB, which are looked up at secret addresses.
using Tables = std::array<std::array<Words, 256>, 16>;

Tables make_tables() {
  Tables tables;
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned byte = 0; byte < 256; ++byte) {
      Block block{};
      block[i] = kuznyechik::pi[byte];
      tables[i][byte] = load(kuznyechik::mix(block));
    }
  return tables;
}

Block encrypt_by_tables(const Tables& tables, const kuznyechik::RoundKeys& keys, Block block) {
  for (unsigned round = 0; round < kuznyechik::rounds; ++round) {
    block = kuznyechik::add(block, keys.of[round]);
    Words sum{};
    for (unsigned i = 0; i < 16; ++i) {
      const Words& part = tables[i][block[i]];
      sum.of[0] ^= part.of[0];
      sum.of[1] ^= part.of[1];
    }
    std::memcpy(block.data(), sum.of, sizeof sum);
  }
  return kuznyechik::add(block, keys.of[kuznyechik::rounds]);
}

}  // namespace

KuznyechikCpu::KuznyechikCpu(std::span<const std::byte> key, const kuznyechik::VectorCodes& codes)
    : codes_(codes), keys_(kuznyechik::expand_key(key)) {
  kuznyechik::prepare(keys_, vector_keys_);
}

KuznyechikCpu::~KuznyechikCpu() {
  wipe(std::as_writable_bytes(std::span(keys_.of)));
  wipe(std::as_writable_bytes(std::span(&vector_keys_, 1)));
}

void KuznyechikCpu::encrypt(std::span<Block> blocks) const {
  for (const kuznyechik::VectorCode* code : {codes_.batches, codes_.rest})
    if (code != nullptr)
      for (; blocks.size() >= code->blocks; blocks = blocks.subspan(code->blocks))
        code->encrypt(vector_keys_, blocks.data());
  if (blocks.empty()) return;
  if (codes_.rest == nullptr) {
    static const Tables tables = make_tables();
    for (Block& block : blocks) block = encrypt_by_tables(tables, keys_, block);
    return;
  }
  std::array<Block, kuznyechik::widest_vector> filled{};
  std::ranges::copy(blocks, filled.begin());
  codes_.rest->encrypt(vector_keys_, filled.data());
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
