// AES's key schedule against published vectors, and the counters of counter mode.
#include <string_view>

#include "cipher/aes/aes.hpp"
#include "cipher/modes/ctr.hpp"
#include "support/aes_reference.hpp"
#include "support/catch.hpp"
#include "support/nist_vectors.hpp"

namespace gpuaes {
namespace {

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
