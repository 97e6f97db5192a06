// GHASH against bit-by-bit multiplication as in SP 800-38D. tests/lane/aead_test.cpp has vectors of AES-GCM.
#include "cipher/modes/ghash.hpp"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "support/aes_reference.hpp"
#include "support/catch.hpp"

namespace gpuaes {
namespace {

using ghash::Element;

CounterBlock block_of(const Element& element) {
  CounterBlock block;
  ghash::store_bytes(element, block.data());
  return block;
}

Element element(const CounterBlock& bytes) {
  return ghash::load_bytes(bytes.data());
}

CounterBlock single_bit(unsigned bit) {
  CounterBlock block{};
  block[bit / 8] = static_cast<std::uint8_t>(0x80 >> bit % 8);
  return block;
}

CounterBlock filled(std::uint8_t byte) {
  CounterBlock block;
  block.fill(byte);
  return block;
}

void add_to(CounterBlock& sum, const CounterBlock& block) {
  for (std::size_t i = 0; i < 16; ++i) sum[i] ^= block[i];
}

// SP 800-38D, section 6.3, algorithm 1: bit i of a block is bit 7 - i mod 8 of byte i / 8.
CounterBlock bitwise_product(const CounterBlock& x, const CounterBlock& y) {
  CounterBlock z{}, v = y;
  for (unsigned i = 0; i < 128; ++i) {
    if (x[i / 8] >> (7 - i % 8) & 1) add_to(z, v);
    const bool last_bit = v[15] & 1;
    for (std::size_t byte = 16; byte-- > 0;)
      v[byte] = static_cast<std::uint8_t>(v[byte] >> 1 | (byte > 0 ? v[byte - 1] << 7 : 0));
    if (last_bit) v[0] ^= 0xe1;
  }
  return z;
}

// Section 6.4, algorithm 2.
CounterBlock bitwise_ghash(const CounterBlock& h, const std::vector<CounterBlock>& blocks) {
  CounterBlock sum{};
  for (const CounterBlock& block : blocks) {
    add_to(sum, block);
    sum = bitwise_product(sum, h);
  }
  return sum;
}

bool product_is_right(const CounterBlock& x, const CounterBlock& y) {
  return bitwise_product(x, y) == block_of(multiply(element(x), ghash::Multiplier(element(y))));
}

CounterBlock random_block(std::mt19937_64& random) {
  CounterBlock block;
  for (std::uint8_t& byte : block) byte = static_cast<std::uint8_t>(random());
  return block;
}

std::vector<CounterBlock> random_blocks(std::size_t count, std::mt19937_64& random) {
  std::vector<CounterBlock> blocks(count);
  for (CounterBlock& block : blocks) block = random_block(random);
  return blocks;
}

}  // namespace

TEST_CASE("field elements are big-endian numbers, and storing one restores the loaded block") {
  const CounterBlock block = counter_block("00112233445566778899aabbccddeeff");
  CHECK(element(block).words[3] == 0x00112233);
  CHECK(element(block).words[0] == 0xccddeeff);
  CHECK(block == block_of(element(block)));
  std::uint32_t memory[4], stored[4];
  std::memcpy(memory, block.data(), sizeof memory);
  CHECK(block == block_of(ghash::load(memory)));
  ghash::store(element(block), stored);
  CHECK(std::memcmp(stored, memory, sizeof memory) == 0);
  CHECK(counter_block("00112233440000000000000000000000") == block_of(ghash::load_bytes(block.data(), 5)));
}

TEST_CASE("the product of each pair of single bits is right") {
  std::size_t right = 0;
  for (unsigned i = 0; i < 128; ++i)
    for (unsigned j = 0; j < 128; ++j) right += product_is_right(single_bit(i), single_bit(j)) ? 1 : 0;
  CHECK(right == 128 * 128);
}

// Every repeated pattern of four bits times every other: no products have more pairs of bits in a sum. The
// multiplier divides its factor by x; multiplying the factor by x first makes it store the pattern itself.
TEST_CASE("products of the densest elements do not carry") {
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j) {
      CAPTURE(i, j);
      const CounterBlock a = filled(static_cast<std::uint8_t>(0x11 * i)),
                         b = filled(static_cast<std::uint8_t>(0x11 * j));
      CHECK(product_is_right(a, b));
      CHECK(product_is_right(a, bitwise_product(b, single_bit(1))));
    }
}

TEST_CASE("random products are right") {
  std::mt19937_64 random(1);
  std::size_t right = 0;
  for (int i = 0; i < 20000; ++i)
    right += product_is_right(random_block(random), random_block(random)) ? 1 : 0;
  CHECK(right == 20000);
}

TEST_CASE("the precomputed powers are those of the hash key") {
  std::mt19937_64 random(2);
  const CounterBlock h = random_block(random);
  ghash::Powers powers;
  ghash::make_powers(element(h), powers);
  CounterBlock power = single_bit(0);
  for (const Element& each : powers.of) CHECK((power = bitwise_product(power, h)) == block_of(each));
}

namespace {

struct HashedBlocks {
  const std::vector<CounterBlock>& blocks;
  mutable std::vector<int> times_used;

  CounterBlock fetch(unsigned index) const { return blocks.at(index); }
  Element block(const CounterBlock& fetched, unsigned index) const {
    ++times_used.at(index);
    return element(fetched);
  }
};

template <unsigned ahead>
void check_shares() {
  std::mt19937_64 random(3);
  std::vector<std::size_t> counts{1024, 1025, 1026};
  for (std::size_t count = 0; count <= 100; ++count) counts.push_back(count);
  for (const unsigned threads : {128u, 32u, 1u, 7u})
    for (const std::size_t count : counts) {
      CAPTURE(threads, count);
      const CounterBlock h = random_block(random);
      ghash::Powers powers;
      ghash::make_powers(element(h), powers);
      const std::vector<CounterBlock> blocks = random_blocks(count, random);
      HashedBlocks data{blocks, std::vector<int>(count)};
      Element sum{};
      for (unsigned thread = 0; thread < threads; ++thread)
        sum = add(sum, ghash::thread_share<ahead>(thread, threads, static_cast<unsigned>(count),
                                                  ghash::Multiplier(powers.of[threads - 1]),
                                                  powers.of[threads - 1 - thread], data));
      CHECK(bitwise_ghash(h, blocks) == block_of(sum));
      CHECK(data.times_used == std::vector<int>(count, 1));
    }
}

}  // namespace

TEST_CASE("the shares of all threads add up to GHASH for any number of blocks") {
  check_shares<1>();
  check_shares<4>();
}

TEST_CASE("GHASH counts the blocks of associated data and ciphertext, and adds a block with their lengths") {
  CHECK(ghash::Lengths{0, 0}.data_blocks() == 0);
  CHECK(ghash::Lengths{1, 16}.data_blocks() == 2);
  CHECK(ghash::Lengths{16, 17}.data_blocks() == 3);
  CHECK(ghash::Lengths{33, 0}.aad_blocks() == 3);
  const Element lengths = ghash::Lengths{std::uint64_t{1} << 33 | 2, std::uint64_t{1} << 34 | 3}.last_block();
  CHECK(counter_block("00000010000000100000002000000018") == block_of(lengths));
}

}  // namespace gpuaes
