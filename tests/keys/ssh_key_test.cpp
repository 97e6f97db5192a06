// Public SSH keys, and the conversion of Ed25519 points against RFC 7748 and RFC 8032.
#include "keys/ssh_key.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "keys/kdf.hpp"
#include "keys/recipient.hpp"
#include "keys/x25519.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/ssh.hpp"

namespace gpuaes {
namespace {

Bytes ed25519_key(const Bytes& point) {
  return ssh_strings({to_bytes("ssh-ed25519"), point});
}

std::optional<PublicKey> convert(std::string_view point) {
  return x25519_key_of(ed25519_key(from_hex(point)));
}

std::string line_of(std::string_view type, const Bytes& key) {
  return fmt::format("{} {}", type, encode_base64(key, Padding::required));
}

// A valid key whose modulus is not a product of two primes.
Bytes rsa_key(std::size_t bits, Bytes exponent = from_hex("010001"), unsigned last_byte = 0xff) {
  Bytes modulus((bits + 7) / 8, std::byte{0xff});
  modulus.front() = static_cast<std::byte>(0xff >> (8 * modulus.size() - bits));
  modulus.back() = static_cast<std::byte>(last_byte);
  return make_ssh_rsa_key(modulus, exponent);
}

std::string refusal(std::string_view text) {
  return failure_of([&] { parse_ssh_recipient(text, "it"); });
}

}  // namespace

// RSA
// ----------------------------------------------------------------------------------------------------------

TEST_CASE("RSA-OAEP with SHA-256 decrypts Wycheproof's vectors") {
  constexpr std::string_view vectors[] = {
#include "vectors/wycheproof_rsa_oaep.inc"
  };
  Bytes key;
  Secret exponent;
  std::size_t valid = 0, invalid = 0;
  for (const std::string_view line : vectors) {
    const std::vector<std::string> words = words_of(line);
    if (words.at(0) == "key") {
      key = make_ssh_rsa_key(from_hex(words.at(1)), from_hex(words.at(2)));
      exponent = secret_of(from_hex(words.at(3)));
      continue;
    }
    CAPTURE(words.at(0));
    const Bytes label = from_hex(words.at(2)), ciphertext = from_hex(words.at(4));
    const std::optional<Secret> message = decrypt_ssh_rsa(key, exponent, ciphertext, as_text(label));
    CHECK(message.has_value() == (words.at(1) == "valid"));
    if (message) CHECK(std::ranges::equal(message->bytes(), from_hex(words.at(3))));
    CHECK_FALSE(decrypt_ssh_rsa(key, exponent, ciphertext));
    ++(message ? valid : invalid);
  }
  CHECK(valid == 18);
  CHECK(invalid == 19);
}

// The conversion of points ---------------------------------------------------------------------------------

TEST_CASE("the base point of Ed25519 is that of X25519") {
  const std::string y = "58" + std::string(62, '6');
  const PublicKey nine = point_of(from_hex("09" + std::string(62, '0')));
  CHECK(convert(y) == nine);
  CHECK(convert("58" + std::string(60, '6') + "e6") == nine);  // the other sign of x
}

TEST_CASE("the converted public key is that of the hashed seed") {
  // The seeds of RFC 8032, section 7.1, and others.
  for (Bytes seed : {from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"),
                     from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"),
                     test_bytes(32), test_bytes(32, 100), test_bytes(32, 200)}) {
    const PublicBytes ssh_key = ssh_ed25519_kem.public_key_of(secret_of(seed));
    Sha512 hash;
    hash.add(seed);
    const auto digest = hash.finish();
    CHECK(x25519_key_of(ssh_key) == public_key_of(secret_of(std::span(digest).first(32))));
  }
  const Secret first =
      secret_of(from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"));
  CHECK(ssh_ed25519_kem.public_key_of(first) ==
        ed25519_key(from_hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")));
}

TEST_CASE("points that are not on the curve, and encodings that are not canonical, are refused") {
  const std::string zeros(60, '0'), ones(60, 'f');
  for (const std::string& bad :
       {"02" + zeros + "00", "07" + zeros + "00",  // (y^2 - 1) / (d y^2 + 1) is not a square
        "01" + zeros + "00", "01" + zeros + "80",  // of order 1
        "ec" + ones + "7f", "ec" + ones + "ff",    // of order 2
        "ed" + ones + "7f", "ee" + ones + "7f", "ff" + ones + "7f", "ed" + ones + "ff"}) {
    CAPTURE(bad);
    CHECK_FALSE(convert(bad));
  }
  CHECK(convert("03" + zeros + "00"));
  std::size_t valid = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    Bytes y = test_bytes(32, 7 * i);
    y.back() &= std::byte{0x3f};
    valid += x25519_key_of(ed25519_key(y)).has_value();
  }
  CHECK(valid > 150);  // about half of all numbers
  CHECK(valid < 250);
}

// Public keys ----------------------------------------------------------------------------------------------

TEST_CASE("a public key may have a comment, and is written without it") {
  const Bytes key = ssh_ed25519_kem.public_key_of(secret_of(test_bytes(32)));
  const std::string line = line_of("ssh-ed25519", key);
  for (const std::string& text :
       {line, line + " me@host", line + "\tme and others  ", "ssh-ed25519 \t" + line.substr(12)}) {
    const Key recipient = parse_recipient(text, "it");
    CHECK(recipient.kind == KeyKind::ssh_ed25519);
    CHECK(recipient.public_key == key);
    CHECK(text_of(recipient) == line);
  }
  for (const std::size_t bits : {2048u, 2049u, 3072u, 8192u}) {
    const Key recipient = parse_recipient(line_of("ssh-rsa", rsa_key(bits)) + " x", "it");
    CHECK(recipient.kind == KeyKind::ssh_rsa);
    CHECK(text_of(recipient) == line_of("ssh-rsa", rsa_key(bits)));
  }
  CHECK(parse_recipient(line_of("ssh-rsa", rsa_key(2048, from_hex("03"))), "it").kind == KeyKind::ssh_rsa);
  CHECK(parse_recipient(line_of("ssh-rsa", rsa_key(2048, from_hex("ffffff"))), "it").kind ==
        KeyKind::ssh_rsa);
}

TEST_CASE("malformed public keys are refused") {
  const Bytes good = ssh_ed25519_kem.public_key_of(secret_of(test_bytes(32)));
  const std::string line = line_of("ssh-ed25519", good);
  const Bytes name = to_bytes("ssh-ed25519"), rsa = to_bytes("ssh-rsa"), e = from_hex("010001"),
              n = Bytes(256, std::byte{0x7f});
  Bytes longer = good;
  longer.push_back(std::byte{0});
  for (const std::string& text :
       {std::string("ssh-ed25519"), std::string("ssh-ed25519 "), line + "=", line + "A",
        "ssh-rsa" + line.substr(11), line.substr(0, 20) + "!" + line.substr(21),
        line_of("ssh-ed25519", Bytes()), line_of("ssh-dss", good)})
    CHECK(refusal(text) == "usage: it is not a valid SSH key: it is damaged or truncated");
  for (const Bytes& key :
       {longer, Bytes(good.begin(), good.begin() + 21), ssh_strings({name}), ssh_strings({name, Bytes(31)}),
        ssh_strings({name, Bytes(33)}), ssh_strings({name, from_hex("02" + std::string(62, '0'))}),
        Bytes(good.begin(), good.end() - 1)})
    CHECK(refusal(line_of("ssh-ed25519", key)) ==
          "usage: it is not a valid SSH key: it is not the canonical form of a point on the curve");
  Bytes padded = n, high = n;
  padded.insert(padded.begin(), std::byte{0});
  high.front() = std::byte{0x80};
  for (const Bytes& key :
       {ssh_strings({rsa, e}), ssh_strings({rsa, e, n, n}), ssh_strings({rsa, e, padded}),
        ssh_strings({rsa, e, high}), ssh_strings({rsa, Bytes(), n}), ssh_strings({rsa, e, Bytes()}),
        ssh_strings({rsa, from_hex("00010001"), n}), ssh_strings({rsa, Bytes(1), n})})
    CHECK(refusal(line_of("ssh-rsa", key)) ==
          "usage: it is not a valid SSH key: its encoding is not canonical");
  for (const std::size_t bits : {1024u, 2047u, 8193u, 16384u})
    CHECK(refusal(line_of("ssh-rsa", rsa_key(bits))) ==
          fmt::format("usage: it is not a valid SSH key: it has {} bits; 2048 to 8192 are allowed", bits));
  CHECK(refusal(line_of("ssh-rsa", rsa_key(2048, e, 0xfe))) ==
        "usage: it is not a valid SSH key: its modulus is even");
  for (const std::string_view exponent : {"01", "02", "010000", "01000001"})
    CHECK(refusal(line_of("ssh-rsa", rsa_key(2048, from_hex(exponent)))) ==
          "usage: it is not a valid SSH key: its exponent is not an odd number from 3 to 2^24");
}

TEST_CASE("keys of other types are recognized only if they are well formed") {
  const Bytes key = ssh_strings({to_bytes("ecdsa-sha2-nistp256"), Bytes(8)});
  CHECK(other_ssh_type(line_of("ecdsa-sha2-nistp256", key) + " me") == "ecdsa-sha2-nistp256");
  CHECK(refusal(line_of("ecdsa-sha2-nistp256", key)) ==
        "usage: it is an SSH key of type ecdsa-sha2-nistp256, which cannot be a recipient");
  CHECK_FALSE(other_ssh_type(line_of("ecdsa-sha2-nistp384", key)));
  CHECK_FALSE(other_ssh_type("ecdsa-sha2-nistp256"));
  CHECK_FALSE(other_ssh_type(line_of("ssh-rsa", rsa_key(1024))));
  CHECK_FALSE(other_ssh_type(line_of("other", ssh_strings({to_bytes("other")}))));
}

}  // namespace gpuaes
