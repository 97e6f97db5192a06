// The raw format, the secrets that formats require, and hexadecimal digits.
#include "format/format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "keys/key.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/keys.hpp"

namespace gpuaes {
namespace {

std::unique_ptr<Session> raw(std::string_view iv, Cipher cipher = Cipher::aes_256) {
  SessionRequest request;
  request.cipher = cipher;
  request.iv = iv;
  request.keyring.keys.push_back(key_file(test_bytes(32)));
  return raw_format.open(std::move(request));
}

}  // namespace

TEST_CASE("a raw job starts at the counter of its first block") {
  struct Case {
    std::string_view iv;
    std::uint64_t offset;
    std::string_view counter;
  };
  constexpr Case cases[] = {
      {"00112233445566778899aabbccddeeff", 0, "00112233445566778899aabbccddeeff"},
      {"00112233445566778899aabbccddeeff", 16, "00112233445566778899aabbccddef00"},
      {"00000000000000000000000000000000", 16 * 255, "000000000000000000000000000000ff"},
      {"00000000000000000000000000000000", 16 * 256, "00000000000000000000000000000100"},
      // Carries at 2^32, 2^64 and 2^128.
      {"000000000000000000000000fffffff0", 16 * 15, "000000000000000000000000ffffffff"},
      {"000000000000000000000000fffffff0", 16 * 16, "00000000000000000000000100000000"},
      {"0000000000000000fffffffffffffff0", 16 * 15, "0000000000000000ffffffffffffffff"},
      {"0000000000000000fffffffffffffff0", 16 * 17, "00000000000000010000000000000001"},
      {"00000000ffffffffffffffffffffffff", 16, "00000001000000000000000000000000"},
      {"fffffffffffffffffffffffffffffff0", 16 * 15, "ffffffffffffffffffffffffffffffff"},
      {"fffffffffffffffffffffffffffffff0", 16 * 16, "00000000000000000000000000000000"},
      {"fffffffffffffffffffffffffffffff0", 16 * 18, "00000000000000000000000000000002"},
      // Far into a long stream: block 2^32 + 1, and the last block that an offset can address.
      {"00000000000000000000000000000000", std::uint64_t{16} * 0x100000001,
       "00000000000000000000000100000001"},
      {"00000000000000000000000000000000", ~std::uint64_t{15}, "00000000000000000fffffffffffffff"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.iv, each.offset);
    CHECK(raw(each.iv)->job({each.offset, {}, {}}).counter == counter_block(each.counter));
  }
}

TEST_CASE("the IV of Kuznyechik is the upper half of the first counter block, whose lower half is zero") {
  const auto session = raw("1234567890abcef0", Cipher::kuznyechik);
  CHECK(session->job({16 * 258, {}, {}}).counter == counter_block("1234567890abcef00000000000000102"));
}

TEST_CASE("a format names the secret that it requires") {
  const auto failure = [](std::string_view format) {
    return failure_of([&] { open_session(find_format(format), {}); });
  };
  CHECK(failure("sealed") == "usage: the sealed format requires a key or a passphrase");
  CHECK(failure("cobblestone") == "usage: the cobblestone format requires a key");
  CHECK(failure("openssl") == "usage: the openssl format requires a passphrase");
  CHECK(failure("raw") == "usage: the raw format requires a key");
  CHECK(error_of<UsageError>([] { open_session(find_format("openssl"), {}); })->hint().advice ==
        Advice::enter_passphrase);
}

TEST_CASE("every pair of characters is decoded as hexadecimal or refused") {
  const auto value = [](int c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  unsigned wrong = 0;
  for (int high = 0; high < 256; ++high)
    for (int low = 0; low < 256; ++low) {
      const std::array pair{static_cast<char>(high), static_cast<char>(low)};
      std::array<std::byte, 1> out{};
      const bool good = parse_hex({pair.data(), 2}, out);
      const bool expected = value(high) >= 0 && value(low) >= 0;
      if (good != expected || (good && std::to_integer<int>(out[0]) != value(high) * 16 + value(low)))
        ++wrong;
    }
  CHECK(wrong == 0);
}

TEST_CASE("there must be exactly two hexadecimal digits for each byte") {
  std::array<std::byte, 2> out{};
  for (const std::string_view digits : {"", "0", "00", "000", "00000", "000000"})
    CHECK_FALSE(parse_hex(digits, out));
  CHECK(parse_hex("a1F0", out));
  CHECK(out == std::array{std::byte{0xa1}, std::byte{0xf0}});
  CHECK(parse_hex("", {}));
}

}  // namespace gpuaes
