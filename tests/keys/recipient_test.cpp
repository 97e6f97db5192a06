// X25519 and Bech32 against published vectors (RFC 7748, BIP 173). tests/cli/recipients/ has the text of
// keys.
#include "keys/recipient.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "keys/bech32.hpp"
#include "keys/x25519.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace gpuaes {
namespace {

PublicKey public_key(std::string_view hex) {
  PublicKey key;
  std::ranges::copy(from_hex(hex), key.begin());
  return key;
}

Bytes shared(std::string_view private_hex, std::string_view public_hex) {
  const std::optional<Secret> secret =
      shared_secret(secret_of(from_hex(private_hex)), public_key(public_hex));
  if (!secret) return {};
  return {secret->bytes().begin(), secret->bytes().end()};
}

struct Decoded {
  Bech32Fault fault;
  Bytes data;
};

// Takes everything before the last 1 as the prefix, and decodes as many bytes as the text can hold.
Decoded decode(std::string_view text) {
  const std::size_t separator = std::min(text.rfind('1'), text.size());
  const std::size_t values = text.size() - std::min(text.size(), separator + 7);
  Bytes data(values * 5 / 8);
  const Bech32Fault fault = decode_bech32(text.substr(0, separator), text, data);
  return {fault, std::move(data)};
}

std::string encode(std::string_view prefix, const Bytes& data) {
  std::string text(bech32_characters(prefix.size(), data.size()), '?');
  encode_bech32(prefix, data, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace

// X25519 -------------------------------------------------------------------------------------------

TEST_CASE("X25519 matches RFC 7748, section 5.2") {
  CHECK(shared("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
               "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c") ==
        from_hex("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"));
  CHECK(shared("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
               "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493") ==
        from_hex("95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"));
  Bytes k = from_hex("0900000000000000000000000000000000000000000000000000000000000000"), u = k;
  for (int i = 1; i <= 1000; ++i) {
    PublicKey point;
    std::ranges::copy(u, point.begin());
    const std::optional<Secret> next = shared_secret(secret_of(k), point);
    REQUIRE(next);
    u = std::exchange(k, Bytes(next->bytes().begin(), next->bytes().end()));
    if (i == 1) CHECK(k == from_hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"));
  }
  CHECK(k == from_hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"));
}

TEST_CASE("X25519 matches RFC 7748, section 6.1") {
  constexpr std::string_view alice = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
                             bob = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
                             alice_public =
                                 "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
                             bob_public = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";
  CHECK(public_key_of(secret_of(from_hex(alice))) == public_key(alice_public));
  CHECK(public_key_of(secret_of(from_hex(bob))) == public_key(bob_public));
  const Bytes both = from_hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
  CHECK(shared(alice, bob_public) == both);
  CHECK(shared(bob, alice_public) == both);
}

TEST_CASE("a public key of low order has no shared secret, and one that is not canonical is recognized") {
  constexpr std::string_view scalar = "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4";
  // The points of low order: 0, 1, two of order 8, and p - 1.
  for (const std::string_view low : {"0000000000000000000000000000000000000000000000000000000000000000",
                                     "0100000000000000000000000000000000000000000000000000000000000000",
                                     "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                                     "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
                                     "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"}) {
    CHECK(is_canonical(public_key(low)));
    CHECK(shared(scalar, low).empty());
    CHECK(has_low_order(public_key(low)));
  }
  CHECK_FALSE(has_low_order(public_key_of(make_private_key())));
  const std::string middle(60, 'f');
  for (unsigned low = 0; low < 256; ++low) {
    PublicKey key = public_key("00" + middle + "7f");
    key.front() = static_cast<std::byte>(low);
    CHECK(is_canonical(key) == (low < 0xed));
  }
  for (const std::string& good : {"ff" + middle + "7e", "fffe" + std::string(58, 'f') + "7f",
                                  "ff" + std::string(58, 'f') + "fe7f", "09" + std::string(62, '0')}) {
    CHECK(is_canonical(public_key(good)));
    CHECK_FALSE(shared(scalar, good).empty());
  }
  for (const std::string& bad : {"f0" + middle + "7f", "ff" + middle + "7f",
                                 "09" + std::string(60, '0') + "80", "00" + middle + "ff"}) {
    CHECK_FALSE(is_canonical(public_key(bad)));
    CHECK_FALSE(shared(scalar, bad).empty());
  }
}

// Bech32 -------------------------------------------------------------------------------------------

TEST_CASE("Bech32 decodes the valid strings of BIP 173 and encodes them again") {
  for (const std::string_view text :
       {"A12UEL5L", "a12uel5l",
        "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs",
        "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
        "11qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqc8247j",
        "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w", "?1ezyfcl"}) {
    CAPTURE(text);
    const Decoded decoded = decode(text);
    CHECK(decoded.fault == Bech32Fault::none);
    CHECK(encode(text.substr(0, text.rfind('1')), decoded.data) == text);
  }
  CHECK(decode("abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw").data ==
        from_hex("00443214c74254b635cf84653a56d7c675be77df"));
}

TEST_CASE("Bech32 refuses the invalid strings of BIP 173") {
  CHECK(decode(" 1nwldj5").fault == Bech32Fault::character);
  CHECK(decode("\x7f"
               "1axkwrx")
            .fault == Bech32Fault::character);
  CHECK(decode("\x80"
               "1eym55h")
            .fault == Bech32Fault::character);
  CHECK(decode("pzry9x0s0muk").fault == Bech32Fault::prefix);
  CHECK(decode("1pzry9x0s0muk").fault == Bech32Fault::prefix);
  CHECK(decode("x1b4n0q5v").fault == Bech32Fault::length);  // one value is too short for a byte
  CHECK(decode("li1dgmt3").fault == Bech32Fault::length);
  CHECK(decode("de1lg7wt\xff").fault == Bech32Fault::character);
  CHECK(decode("A1G7SGD8").fault == Bech32Fault::checksum);
  CHECK(decode("10a06t8").fault == Bech32Fault::prefix);
  CHECK(decode("1qzzfhee").fault == Bech32Fault::prefix);
}

TEST_CASE("Bech32 encodes any number of bytes, and decodes exactly that number") {
  for (std::size_t size = 0; size <= 48; ++size) {
    const Bytes data = test_bytes(size, 7 * size + 1);
    const std::string text = encode("ab", data);
    CAPTURE(text);
    CHECK(decode(text).fault == Bech32Fault::none);
    CHECK(decode(text).data == data);
    Bytes other(size + 1);
    CHECK(decode_bech32("ab", text, other) == Bech32Fault::length);
    CHECK(decode_bech32("abc", text, other) == Bech32Fault::prefix);
  }
}

TEST_CASE("Bech32 refuses nonzero padding even if the checksum is right") {
  // The byte 00 with padding 0 to 3, then the byte 01 without padding. From the Python code of BIP 173.
  CHECK(decode("ab1qqgtyqtx").fault == Bech32Fault::none);
  for (const std::string_view text : {"ab1qp4as4k5", "ab1qzmw9rct", "ab1qrxc3k9e"})
    CHECK(decode(text).fault == Bech32Fault::padding);
  CHECK(decode("ab1qy8pxxyu").data == from_hex("01"));
}

// Recipients and identities -------------------------------------------------------------------------

TEST_CASE("a recipient that is not the canonical form of a public key is refused") {
  const std::string above_prime = "f0" + std::string(60, 'f') + "7f";
  CHECK(contains(failure_of([&] { parse_recipient(encode("age", from_hex(above_prime)), "it"); }),
                 "it is not a valid recipient: it is not the canonical form"));
}

TEST_CASE("the names of plugins have limits") {
  const auto identity_refusal = [](const std::string& name) {
    std::string text = encode("age-plugin-" + name + "-", test_bytes(8));
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
    return failure_of([&] { parse_identities(text, "file"); });
  };
  CHECK(identity_refusal(std::string(200, 'a')).empty());
  for (const std::string& name : {std::string(), std::string(201, 'a')})
    CHECK(contains(identity_refusal(name), "a plugin name may contain only"));
  // A longer name would be a typing error in a recipient without a plugin.
  CHECK(parse_recipient(encode("age1" + std::string(40, 'a'), test_bytes(8)), "it").kind == KeyKind::plugin);
  CHECK(contains(
      failure_of([] { parse_recipient(encode("age1" + std::string(41, 'a'), test_bytes(8)), "it"); }),
      "it is not a valid recipient"));
}

}  // namespace gpuaes
