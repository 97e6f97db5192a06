// Runs the bodies of the LS table kernels, and of the bench's inverse, on the host, and compares with the
// standard.
#include "cipher/kuznyechik/ls_table.hpp"

#include <algorithm>
#include <memory>
#include <random>

#include "support/aes_reference.hpp"
#include "support/catch.hpp"
#include "support/kuznyechik_vectors.hpp"
#include "variants/inverse.hpp"

namespace gpuaes {
namespace {

using kuznyechik::Block, kuznyechik::LsTables;

const LsTables encryption = kuznyechik::make_ls_tables(Direction::encrypt);
const LsTables decryption = kuznyechik::make_ls_tables(Direction::decrypt);

struct Memory {
  const LsTables& tables;
  BlockWords entry(unsigned index) const { return tables.entries[index]; }
};

bool is(const BlockWords& words, const Block& block) {
  return std::ranges::equal(words.words, kuznyechik::to_words(block).words);
}

struct Keys {
  explicit Keys(const kuznyechik::RoundKeys& keys)
      : round_keys(keys),
        encrypting(kuznyechik::make_key_words(keys)),
        decrypting(kuznyechik::make_decryption_key_words(keys)) {}

  kuznyechik::RoundKeys round_keys;
  kuznyechik::KeyWords encrypting, decrypting;
};

// With this block as the last of `count`.
template <unsigned count>
bool goes_both_ways(const Block& plain, const Keys& keys, const LsTables& encrypts,
                    const LsTables& decrypts) {
  const Block cipher = kuznyechik::encrypt(keys.round_keys, plain);
  BlockWords blocks[count] = {};
  blocks[count - 1] = kuznyechik::to_words(plain);
  kuznyechik::encrypt(blocks, keys.encrypting.data(), Memory{encrypts});
  if (!is(blocks[count - 1], cipher)) return false;
  kuznyechik::decrypt(blocks, keys.decrypting.data(), Memory{decrypts}, kuznyechik::pi.data());
  return is(blocks[count - 1], plain) && (count == 1 || is(blocks[0], Block{}));
}

Block random_block(std::mt19937& random) {
  Block block;
  for (std::uint8_t& byte : block) byte = static_cast<std::uint8_t>(random());
  return block;
}

Keys random_keys(std::mt19937& random) {
  Bytes key(32);
  for (std::byte& byte : key) byte = static_cast<std::byte>(random());
  return Keys(kuznyechik::expand_key(key));
}

}  // namespace

TEST_CASE("LS tables encrypt and decrypt the blocks of GOST R 34.13-2015, A.1.1") {
  const Keys keys(kuznyechik::expand_key(from_hex(kuznyechik_key)));
  const Bytes plaintext = from_hex(kuznyechik_plaintext);
  for (std::size_t i = 0; i < 4; ++i) {
    Block plain;
    for (std::size_t k = 0; k < 16; ++k) plain[k] = std::to_integer<std::uint8_t>(plaintext[16 * i + k]);
    CHECK(goes_both_ways<1>(plain, keys, encryption, decryption));
  }
}

TEST_CASE("LS tables match L S and its inverse for every byte in every position") {
  const Keys zeros(kuznyechik::RoundKeys{});
  std::size_t right = 0;
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned byte = 0; byte < 256; ++byte) {
      Block plain{};
      plain[i] = static_cast<std::uint8_t>(byte);
      right += goes_both_ways<1>(plain, zeros, encryption, decryption);
    }
  CHECK(right == 16 * 256);
}

TEST_CASE("LS tables encrypt and decrypt 1, 2 and 4 blocks together") {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    const Keys keys = random_keys(random);
    const Block plain = random_block(random);
    CHECK(goes_both_ways<1>(plain, keys, encryption, decryption));
    CHECK(goes_both_ways<2>(plain, keys, encryption, decryption));
    CHECK(goes_both_ways<4>(plain, keys, encryption, decryption));
  }
}

TEST_CASE("interleaved LS tables encrypt correctly in every warp lane's order of lookups") {
  const auto interleaved = std::make_unique<LsTables>(kuznyechik::interleave(encryption));
  std::mt19937 random(4);
  for (unsigned warp_lane = 0; warp_lane < 32; ++warp_lane) {
    const Keys keys = random_keys(random);
    BlockWords words[kuznyechik::rounds + 1];
    for (unsigned round = 0; round <= kuznyechik::rounds; ++round)
      words[round] = kuznyechik::key_of(keys.encrypting.data(), round);
    for (int i = 0; i < 20; ++i) {
      const Block plain = random_block(random);
      const BlockWords made = kuznyechik::encrypt(kuznyechik::to_words(plain), words,
                                                  kuznyechik::Interleaved(interleaved->entries, warp_lane));
      CHECK(is(made, kuznyechik::encrypt(keys.round_keys, plain)));
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
