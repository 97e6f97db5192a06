// The files of other programs are recognized, and little else is.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "format/format.hpp"
#include "format/parts/frames.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace gpuaes {
namespace {

// The error about an input that begins with these bytes, or nothing. Reads `step` bytes at a time.
std::string refusal(const Bytes& begin, std::size_t step = 7) {
  std::span<const std::byte> rest = begin;
  HeaderReader input([&](std::span<std::byte> room) {
    const std::size_t count = std::min({room.size(), rest.size(), step});
    std::copy_n(rest.begin(), count, room.begin());
    rest = rest.subspan(count);
    return count;
  });
  return failure_of([&] { refuse_foreign(input); });
}

std::string refusal_of_hex(std::string_view hex) {
  return refusal(from_hex(hex));
}

std::string refusal_of_text(std::string_view text) {
  return refusal(to_bytes(text));
}

}  // namespace

TEST_CASE("the files of other programs are recognized by their first bytes") {
  const auto check = [](const std::string& hex, std::string_view name) {
    CAPTURE(hex);
    const std::string want = "auth: this is " + std::string(name) + ", not a gpuaes-stream file";
    CHECK(contains(refusal_of_hex(hex), want));
    CHECK(contains(refusal_of_hex(hex + std::string(2000, '5')), want));
    CHECK(refusal_of_hex(hex.substr(0, hex.size() - 2)) == "");
    CHECK(refusal_of_hex("00" + hex) == "");
  };
  check("1f8b08", "a gzip file");
  check("28b52ffd", "a zstd file");
  check("553246736447566b5831", "an openssl file in Base64");
  check("3c68746d6c", "an HTML page");
  CHECK(contains(refusal_of_text("-----BEGIN PGP MESSAGE-----\n\nhQ"), "this is an OpenPGP file"));
  CHECK(refusal_of_text("-----BEGIN PGP PUBLIC KEY BLOCK-----") == "");
}

TEST_CASE("a part is recognized by the fields of its header, which have limits") {
  const auto refusal_of = [](const FrameHeader& header) {
    const auto bytes = encode(header);
    return refusal({bytes.begin(), bytes.end()});
  };
  const std::uint64_t max_bytes = max_part_bytes(Cipher::aes_256);
  for (const FrameHeader& header :
       std::initializer_list<FrameHeader>{{.number = 1, .of = 2, .length = 100},
                                          {.number = max_parts, .of = max_parts, .length = max_bytes - 1}})
    CHECK(contains(refusal_of(header), "the input is a part or an index, not a whole file"));
  for (const FrameHeader& header :
       std::initializer_list<FrameHeader>{{.number = max_parts + 1, .of = 2, .length = 100},
                                          {.number = 1, .of = max_parts + 1, .length = 100},
                                          {.number = 1, .of = 2, .length = max_bytes}})
    CHECK(refusal_of(header) == "");
}

TEST_CASE("OpenPGP messages are recognized by their first packet") {
  for (const std::string_view hex :
       {"8c0d0409030259dbb52e3535979fffd238", "845e03080750bdf057e92212070140",
        "85010c03112233445566778801080000", "85020c03112233445566778801080000"}) {
    CAPTURE(hex);
    CHECK(contains(refusal_of_hex(hex), "auth: this is an OpenPGP file"));
  }
  for (const std::string_view hex :
       {"8c0d0309030259dbb52e3535979fffd238", "8c0e0409030259dbb52e3535979fffd238",
        "845e04080750bdf057e92212070140", "85010c0411223344556677880108", "850003112233445566778801080000",
        "8c", "84", "85010c"}) {
    CAPTURE(hex);
    CHECK(refusal_of_hex(hex) == "");
  }
}

TEST_CASE("an identity file is recognized, also after comments") {
  for (const std::string_view text :
       {"AGE-SECRET-KEY-PQ-1QQ", "# created: today\r\n\n \tAGE-SECRET-KEY-1QQ\n",
        "# created: today\n# public key: age1\nAGE-SECRET-KEY-1QQ\n"}) {
    CAPTURE(text);
    CHECK(contains(refusal_of_text(text), "auth: the input contains an identity, not an encrypted file"));
  }
  CHECK(refusal_of_text("# AGE-SECRET-KEY-1QQ\n") == "");
  CHECK(refusal_of_text("words\nAGE-SECRET-KEY-1QQ\n") == "");
}

TEST_CASE("a key is recognized, but not everything that has the size of one") {
  CHECK(contains(refusal(Bytes(32)), "auth: the input looks like a key, not like an encrypted file"));
  CHECK(refusal(Bytes(16)) == "");
}

TEST_CASE("random bytes are not mistaken for a file") {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes(600);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    CHECK(refusal(bytes, 600) == "");
  }
  CHECK(refusal({}) == "");
  for (unsigned value = 0; value < 256; ++value)
    CHECK(refusal(Bytes(1000, static_cast<std::byte>(value)), 1000) == "");
}

}  // namespace gpuaes
