// AES against published vectors, and the table kernel's code, run on the host, against the reference.
#include <random>
#include <string_view>
#include <vector>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/ttable.hpp"
#include "cipher/modes/ctr.hpp"
#include "support/aes_reference.hpp"
#include "support/catch.hpp"
#include "support/counters.hpp"
#include "support/nist_vectors.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view keys_hex[] = {
    "000102030405060708090a0b0c0d0e0f",
    "000102030405060708090a0b0c0d0e0f1011121314151617",
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
};

std::vector<std::uint32_t> replicated_tables() {
  std::vector<std::uint32_t> words(aes::replicated_words);
  const aes::TTable table = aes::make_ttable();
  for (unsigned i = 0; i < aes::replicated_words; ++i) words[i] = aes::replicated_word(table, i);
  return words;
}

template <int rounds>
CounterBlock table_block(const std::vector<std::uint32_t>& tables, unsigned bank, const aes::RoundKeys& keys,
                         Counter counter, unsigned group) {
  aes::CtrKeystream<rounds> keystream(tables.data(), bank, keys.words.data());
  const unsigned last_byte = counter.low & 0xff;
  keystream.start({counter.high, counter.low - last_byte + group});
  return to_bytes(keystream.block(last_byte));
}

// The keystream of one counter by the table kernel's code. start() is given the counter with `group` as its
// last byte.
CounterBlock table_keystream(unsigned bank, const aes::RoundKeys& keys, Counter counter, unsigned group = 0) {
  static const std::vector<std::uint32_t> tables = replicated_tables();
  if (keys.rounds == 10) return table_block<10>(tables, bank, keys, counter, group);
  if (keys.rounds == 12) return table_block<12>(tables, bank, keys, counter, group);
  return table_block<14>(tables, bank, keys, counter, group);
}

// Word i of the key schedule in the byte order of FIPS 197.
std::uint32_t fips_word(const aes::RoundKeys& keys, std::size_t i) {
  const std::uint32_t w = keys.words.at(i);
  return w << 24 | (w & 0xff00) << 8 | (w >> 8 & 0xff00) | w >> 24;
}

}  // namespace

TEST_CASE("key expansion produces the words of FIPS 197, appendix A") {
  const auto keys = aes::expand_key(from_hex(ctr_vectors[0].key));
  CHECK(keys.rounds == 10);
  CHECK(fips_word(keys, 0) == 0x2b7e1516);
  CHECK(fips_word(keys, 4) == 0xa0fafe17);
  CHECK(fips_word(keys, 7) == 0x2a6c7605);
  CHECK(fips_word(keys, 23) == 0x11f915bc);
  CHECK(fips_word(keys, 36) == 0xac7766f3);
  CHECK(fips_word(keys, 43) == 0xb6630ca6);

  const auto keys_192 = aes::expand_key(from_hex(ctr_vectors[1].key));
  CHECK(keys_192.rounds == 12);
  CHECK(fips_word(keys_192, 6) == 0xfe0c91f7);
  CHECK(fips_word(keys_192, 8) == 0xec12068e);
  CHECK(fips_word(keys_192, 51) == 0x01002202);

  const auto keys_256 = aes::expand_key(from_hex(ctr_vectors[2].key));
  CHECK(keys_256.rounds == 14);
  CHECK(fips_word(keys_256, 8) == 0x9ba35411);
  CHECK(fips_word(keys_256, 12) == 0xa8b09c1a);
  CHECK(fips_word(keys_256, 59) == 0x706c631e);
}

TEST_CASE("the table kernel's code matches the reference") {
  std::mt19937_64 random(1);
  for (const std::string_view key : keys_hex) {
    const auto keys = aes::expand_key(from_hex(key));
    bool all_equal = true;
    for (int i = 0; i < 2000; ++i) {
      const Counter counter{random(), random()};
      const unsigned bank = random() % 32, group = random() % 256;
      all_equal &= table_keystream(bank, keys, counter, group) == reference_keystream(keys, counter, 0);
    }
    CHECK(all_equal);
  }
}

TEST_CASE("the table kernel's code handles every carry of the counter") {
  const Counter before_carry[] = {{0, 0xf8},    {7, 0xfff8},           {7, 0xfffffff8}, {7, 0xfffffffffff8},
                                  {7, all - 7}, {0xffffffff, all - 7}, {all, all - 7}};
  for (const std::string_view key : keys_hex) {
    const auto keys = aes::expand_key(from_hex(key));
    for (const Counter& start : before_carry)
      for (std::uint64_t i = 0; i < 16; ++i)
        CHECK(table_keystream(static_cast<unsigned>(i), keys, start + i) ==
              reference_keystream(keys, start, i));
  }
}

TEST_CASE("a counter block is one big-endian number") {
  const Counter counter = load_counter(counter_block(ctr_counter));
  CHECK(counter.high == 0xf0f1f2f3f4f5f6f7);
  CHECK(counter.low == 0xf8f9fafbfcfdfeff);
  CHECK(store_counter(counter) == counter_block(ctr_counter));
}

TEST_CASE("a counter carries into its high half and wraps at 2^128") {
  const auto plus = [](std::string_view hex, std::uint64_t blocks) {
    return store_counter(load_counter(counter_block(hex)) + blocks);
  };
  CHECK(plus("000000000000000000000000ffffffff", 1) == counter_block("00000000000000000000000100000000"));
  CHECK(plus("0000000000000000ffffffffffffffff", 1) == counter_block("00000000000000010000000000000000"));
  CHECK(plus("0000000000000001fffffffffffffff0", 32) == counter_block("00000000000000020000000000000010"));
  CHECK(plus("ffffffffffffffffffffffffffffffff", 1) == counter_block("00000000000000000000000000000000"));
  CHECK(plus("00000000000000000000000000000002", ~std::uint64_t{0}) ==
        counter_block("00000000000000010000000000000001"));
}

}  // namespace gpuaes
