// Runs the bodies of the LS table kernels on the host, and compares with the standard.
#include "cipher/kuznyechik/ls_table.hpp"

#include <algorithm>
#include <memory>
#include <random>

#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/kuznyechik_reference.hpp"
#include "support/kuznyechik_vectors.hpp"

namespace gpuaes {
namespace {

using kuznyechik::Block, kuznyechik::LsTables;

const LsTables ls_tables = kuznyechik::make_ls_tables();

struct Memory {
  const LsTables& tables;
  BlockWords entry(unsigned index) const { return tables.entries[index]; }
};

bool is(const BlockWords& words, const Block& block) {
  return std::ranges::equal(words.words, kuznyechik::to_words(block).words);
}

// With this block as the last of `count`.
template <unsigned count>
bool is_right(const Block& plain, const kuznyechik::RoundKeys& keys, const kuznyechik::KeyWords& words,
              const LsTables& tables) {
  BlockWords blocks[count] = {};
  blocks[count - 1] = kuznyechik::to_words(plain);
  kuznyechik::encrypt(blocks, words.data(), Memory{tables});
  return is(blocks[count - 1], kuznyechik::encrypt(keys, plain)) &&
         (count == 1 || is(blocks[0], kuznyechik::encrypt(keys, Block{})));
}

template <unsigned count>
bool is_right(const Block& plain, const kuznyechik::RoundKeys& keys) {
  return is_right<count>(plain, keys, kuznyechik::make_key_words(keys), ls_tables);
}

Block random_block(std::mt19937& random) {
  Block block;
  for (std::uint8_t& byte : block) byte = static_cast<std::uint8_t>(random());
  return block;
}

kuznyechik::RoundKeys random_keys(std::mt19937& random) {
  Bytes key(32);
  for (std::byte& byte : key) byte = static_cast<std::byte>(random());
  return kuznyechik::expand_key(key);
}

}  // namespace

TEST_CASE("LS tables match L S for every byte in every position") {
  std::size_t right = 0;
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned byte = 0; byte < 256; ++byte) {
      Block plain{};
      plain[i] = static_cast<std::uint8_t>(byte);
      right += is_right<1>(plain, {});
    }
  CHECK(right == 16 * 256);
}

TEST_CASE("LS tables encrypt 1, 2 and 4 blocks together") {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    const kuznyechik::RoundKeys keys = random_keys(random);
    const Block plain = random_block(random);
    CHECK(is_right<1>(plain, keys));
    CHECK(is_right<2>(plain, keys));
    CHECK(is_right<4>(plain, keys));
  }
}

TEST_CASE("interleaved LS tables encrypt correctly in every warp lane's order of lookups") {
  const auto interleaved = std::make_unique<LsTables>(kuznyechik::interleave(ls_tables));
  std::mt19937 random(4);
  for (unsigned warp_lane = 0; warp_lane < 32; ++warp_lane) {
    const kuznyechik::RoundKeys keys = random_keys(random);
    BlockWords words[kuznyechik::rounds + 1];
    for (unsigned round = 0; round <= kuznyechik::rounds; ++round)
      words[round] = kuznyechik::to_words(keys.of[round]);
    for (int i = 0; i < 20; ++i) {
      const Block plain = random_block(random);
      const BlockWords made = kuznyechik::encrypt(kuznyechik::to_words(plain), words,
                                                  kuznyechik::Interleaved(interleaved->entries, warp_lane));
      CHECK(is(made, kuznyechik::encrypt(keys, plain)));
    }
  }
}

// The kernel's speed limit in the bench assumes this: in every step, each of 8 threads has its own group of
// banks.
TEST_CASE("with interleaved LS tables, 8 threads of a warp never read the same 4 banks") {
  const auto interleaved = std::make_unique<LsTables>();
  for (unsigned i = 0; i < kuznyechik::ls_entries; ++i) interleaved->entries[i].words[0] = i;
  std::mt19937 random(5);
  for (unsigned step = 0; step < 16; ++step) {
    unsigned groups = 0;
    for (unsigned warp_lane = 0; warp_lane < 8; ++warp_lane) {
      const BlockWords state = kuznyechik::to_words(random_block(random));
      groups |=
          1u << kuznyechik::Interleaved(interleaved->entries, warp_lane).entry(state, step).words[0] % 8;
    }
    CHECK(groups == 0xff);
  }
}

}  // namespace gpuaes
