// Private key files of SSH: every field, with wrong values. tests/cli/ssh/ has other forms of files, and
// encrypts.
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/libcrypto.hpp"
#include "keys/recipient.hpp"
#include "keys/ssh_key.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/ssh.hpp"

namespace gpuaes {
namespace {

std::string pem(std::string_view label, const Bytes& contents) {
  std::string lines;
  const std::string text = encode_base64(contents, Padding::required);
  for (std::size_t at = 0; at < text.size(); at += 70) lines += text.substr(at, 70) + "\n";
  return fmt::format("-----BEGIN {0}-----\n{1}-----END {0}-----\n", label, lines);
}

// The fields of a file in OpenSSH's format.
struct BinaryKeyFile {
  Bytes public_key, fields;  // fields: from the type to the comment
  Bytes magic = to_bytes(std::string_view("openssh-key-v1\0", 15)), cipher = to_bytes("none"),
        kdf = to_bytes("none"), kdf_options{}, count = from_hex("00000001"),
        checks = from_hex("0102030401020304"), trailing{};
  std::size_t extra_padding = 0;
  unsigned first_padding = 1;

  std::string text() const {
    Bytes section = checks;
    append(section, fields);
    for (unsigned i = first_padding; section.size() % 8 != 0; ++i)
      section.push_back(static_cast<std::byte>(i));
    append(section, Bytes(extra_padding));
    Bytes all = magic;
    append(all, ssh_strings({cipher, kdf, kdf_options}));
    append(all, count);
    append(all, ssh_strings({public_key, section}));
    append(all, trailing);
    return pem("OPENSSH PRIVATE KEY", all);
  }
};

BinaryKeyFile ed25519_file(std::size_t from = 0) {
  const Bytes seed = test_bytes(32, from), public_key = ssh_ed25519_kem.public_key_of(secret_of(seed));
  const Bytes point(public_key.end() - 32, public_key.end());
  return {.public_key = public_key,
          .fields = ssh_strings({to_bytes("ssh-ed25519"), point, concatenate(seed, point), to_bytes("me")})};
}

Bytes number(const EvpKey& key, const char* name) {
  BIGNUM* found = nullptr;
  REQUIRE(EVP_PKEY_get_bn_param(key.get(), name, &found) == 1);
  const std::unique_ptr<BIGNUM, FreeWith<BN_free>> held(found);
  Bytes bytes(static_cast<std::size_t>(BN_num_bytes(found)) + 1);  // with room for a zero byte
  BN_bn2bin(found, octets(bytes.data() + 1));
  if ((bytes[1] & std::byte{0x80}) == std::byte{0}) bytes.erase(bytes.begin());
  return bytes;
}

const EvpKey& rsa_pair() {
  static const EvpKey key(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}));
  return key;
}

BinaryKeyFile rsa_file() {
  const EvpKey& key = rsa_pair();
  const Bytes n = number(key, "n"), e = number(key, "e"), type = to_bytes("ssh-rsa");
  return {.public_key = ssh_strings({type, e, n}),
          .fields = ssh_strings({type, n, e, number(key, "d"), number(key, "rsa-coefficient1"),
                                 number(key, "rsa-factor1"), number(key, "rsa-factor2"), to_bytes("me")})};
}

Key open_file(const std::string& text) {
  return SshKeyFile(text, "file").open({}, {}).value();
}

std::string file_refusal(const std::string& text) {
  return failure_of([&] { open_file(text); });
}

std::string refused(std::string_view what) {
  return fmt::format("usage: file is not a valid SSH private key: {}", what);
}

}  // namespace

TEST_CASE("OpenSSH private keys are identities") {
  const BinaryKeyFile file = ed25519_file();
  for (const std::string& text : {file.text(), "\n# mine\n" + file.text(), file.text() + "\n"}) {
    const Key identity = open_file(text);
    CHECK(identity.kind == KeyKind::ssh_ed25519);
    CHECK(std::ranges::equal(identity.secret.bytes(), test_bytes(32)));
    CHECK(recipient_of(identity).public_key == file.public_key);
    CHECK(identity.name == "file");
  }
  for (std::size_t size = 0; size < 9; ++size) {  // all lengths of the padding
    BinaryKeyFile longer = file;
    longer.fields.resize(longer.fields.size() - 6);
    append_ssh_string(longer.fields, Bytes(size, std::byte{'x'}));
    CHECK(file_refusal(longer.text()).empty());
  }
  const Key rsa = open_file(rsa_file().text());
  CHECK(rsa.kind == KeyKind::ssh_rsa);
  CHECK(recipient_of(rsa).public_key == rsa_file().public_key);
}

TEST_CASE("each field of an OpenSSH private key is checked") {
  struct Case {
    std::function<void(BinaryKeyFile&)> change;
    std::string_view error;
  };
  const auto with_fields = [](std::initializer_list<Bytes> strings) {
    return [fields = ssh_strings(strings)](BinaryKeyFile& file) { file.fields = fields; };
  };
  const BinaryKeyFile good = ed25519_file();
  const Bytes type = to_bytes("ssh-ed25519"), seed = test_bytes(32),
              point(good.public_key.end() - 32, good.public_key.end()), other(32, std::byte{1}),
              pair = concatenate(seed, point), none;
  const std::string_view mismatch = "its public key does not match",
                         lengths = "its numbers have wrong lengths", padding = "its padding is wrong",
                         one = "it does not contain exactly one key";
  for (const auto& [change, error] : std::initializer_list<Case>{
           {[](BinaryKeyFile& file) { file.magic[13] = std::byte{'2'}; }, "its version is not supported"},
           {[](BinaryKeyFile& file) { file.magic.back() = std::byte{'x'}; }, "its version is not supported"},
           {[](BinaryKeyFile& file) { file.kdf = to_bytes("bcrypt"); },
            "it has a key derivation, but is not encrypted"},
           {[](BinaryKeyFile& file) { file.kdf_options = Bytes(4); },
            "it has a key derivation, but is not encrypted"},
           {[](BinaryKeyFile& file) { file.count = Bytes(4); }, one},
           {[](BinaryKeyFile& file) { file.count.back() = std::byte{2}; }, one},
           {[](BinaryKeyFile& file) { file.trailing = Bytes(1); }, one},
           {[](BinaryKeyFile& file) { file.checks.back() ^= std::byte{1}; }, "its check numbers differ"},
           {[](BinaryKeyFile& file) { file.checks = file.fields = {}; }, "its check numbers differ"},

           {[](BinaryKeyFile& file) { file.first_padding = 2; }, padding},
           {[](BinaryKeyFile& file) { file.extra_padding = 1; }, padding},
           {[](BinaryKeyFile& file) { file.extra_padding = 8; }, padding},
           {[](BinaryKeyFile& file) {  // bytes that count up, but more than a block of them
              append(file.fields, from_hex("0102030405060708"));
              file.first_padding = 9;
            },
            padding},
           {[](BinaryKeyFile& file) { file.public_key = ed25519_file(1).public_key; }, mismatch},
           {[](BinaryKeyFile& file) { file.public_key.clear(); }, mismatch},
           {with_fields({type, other, pair, none}), mismatch},
           {with_fields({type, point, concatenate(seed, other), none}), mismatch},
           {with_fields({type, point, concatenate(other, point), none}), mismatch},
           {with_fields({type, point, seed, none}), lengths},
           {with_fields({type, none, pair, none}), lengths},
           {with_fields({type, point, concatenate(pair, none), none, none}), padding},
           {with_fields({type, point, pair}), padding}}) {
    BinaryKeyFile file = good;
    change(file);
    CHECK(file_refusal(file.text()) == refused(error));
  }
}

TEST_CASE("the numbers of RSA keys are checked") {
  const EvpKey& key = rsa_pair();
  const Bytes type = to_bytes("ssh-rsa"), n = number(key, "n"), e = number(key, "e"), d = number(key, "d"),
              none;
  Bytes wrong = d;
  wrong[100] ^= std::byte{1};
  const auto file = [&](const Bytes& modulus, const Bytes& exponent, const Bytes& secret) {
    BinaryKeyFile made = rsa_file();
    made.fields = ssh_strings({type, modulus, exponent, secret, none, none, none, none});
    return made.text();
  };
  CHECK(file_refusal(file(n, e, d)).empty());
  CHECK(file_refusal(file(n, e, wrong)) == refused("its public key does not match"));
  CHECK(file_refusal(file(n, from_hex("03"), d)) == refused("its public key does not match"));
  const Bytes long_exponent(1 << 20, std::byte{1});  // with which a decryption would take minutes
  CHECK(file_refusal(file(n, e, long_exponent)) == refused("its public key does not match"));
  for (const std::string& text :
       {file(none, e, d), file(n, none, d), file(n, e, none), file(concatenate(Bytes(1), n), e, d)})
    CHECK(file_refusal(text) == refused("its numbers are not canonical"));
  for (const auto& [bytes, bits] : {std::pair(128, 1023), {1025, 8199}}) {
    const Bytes modulus(static_cast<std::size_t>(bytes), std::byte{0x7f});
    const BinaryKeyFile odd{.public_key = ssh_strings({type, e, modulus}),
                            .fields = ssh_strings({type, modulus, e, d, none, none, none, none})};
    CHECK(file_refusal(odd.text()) == refused(fmt::format("it has {} bits; 2048 to 8192 are allowed", bits)));
  }
}

TEST_CASE("what an encrypted OpenSSH private key says in plaintext is checked") {
  const Bytes salt = test_bytes(16), rounds = from_hex("00000001"), none;
  const auto options = [](const Bytes& salt_field, const Bytes& end) {
    return concatenate(ssh_strings({salt_field}), end);
  };
  BinaryKeyFile good = ed25519_file();
  good.cipher = to_bytes("aes256-ctr");
  good.kdf = to_bytes("bcrypt");
  good.kdf_options = options(salt, rounds);
  const auto refusal_of = [](const BinaryKeyFile& file) {
    return failure_of([&] { SshKeyFile(file.text(), "file").check_encryption(); });
  };
  CHECK(refusal_of(good).empty());
  for (const Bytes& damaged :
       {none, options(none, rounds), options(salt, Bytes(4)), options(salt, Bytes(5))}) {
    BinaryKeyFile file = good;
    file.kdf_options = damaged;
    CHECK(refusal_of(file) == refused("its key derivation is damaged"));
  }
  BinaryKeyFile other_kdf = good, other_cipher = good;
  other_kdf.kdf = to_bytes("scrypt");
  other_cipher.cipher = to_bytes("aes256-xyz@openssh.com");
  CHECK(contains(refusal_of(other_kdf), "the key derivation scrypt"));
  for (const std::size_t tag_bytes : {0, 16, 40}) {  // which only the cipher determines
    other_cipher.trailing = Bytes(tag_bytes);
    CHECK(contains(refusal_of(other_cipher), "aes256-xyz@openssh.com"));
  }

  for (const std::string_view cipher : {"aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com"}) {
    BinaryKeyFile file = good;
    file.cipher = to_bytes(cipher);
    for (const auto& [tag_bytes, what] :
         {std::pair{15, "it is truncated"}, {17, "it does not contain exactly one key"}}) {
      file.trailing = Bytes(static_cast<std::size_t>(tag_bytes));
      CHECK(refusal_of(file) == refused(what));
    }
    file.trailing = Bytes(16);
    CHECK(refusal_of(file).empty());
  }

  const auto recipient_refusal = [&](const Bytes& public_key) {
    BinaryKeyFile file = good;
    file.public_key = public_key;
    return failure_of([&] { SshKeyFile(file.text(), "file").recipient(); });
  };
  CHECK(recipient_refusal(good.public_key).empty());
  CHECK(contains(recipient_refusal(ssh_strings({to_bytes("ssh-dss")})), "of a type that is not supported"));
  CHECK(contains(recipient_refusal(ssh_strings({to_bytes("ssh-ed25519"), none})),
                 "not the canonical form of a point"));
}

TEST_CASE("what an encrypted PEM block says in plaintext is checked") {
  const auto refusal_of = [](std::string_view lines) {
    const std::string text = fmt::format(
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n{}\nAAAA\n-----END RSA PRIVATE KEY-----\n",
        lines);
    return failure_of([&] { SshKeyFile(text, "file").open(secret_of(to_bytes("words")), {}); });
  };
  CHECK(refusal_of("") == refused("its DEK-Info is missing"));
  CHECK(refusal_of("DEK-Info: AES-128-CBC,00\n") == refused("its DEK-Info is damaged"));
  for (const std::string_view method : {"AES-128-CTR", "DES-EDE3-CBC"})
    CHECK(contains(refusal_of(fmt::format("DEK-Info: {},{:032}\n", method, 0)), method));
}

// About one in 256 wrong passphrases gives valid padding.
TEST_CASE("an encrypted PEM block without a key in it opens with no passphrase") {
  const SshKeyFile file(
      fmt::format("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{:032}\n\n"
                  "AAAAAAAAAAAAAAAAAAAAAA==\n-----END RSA PRIVATE KEY-----\n",
                  0),
      "file");
  for (int i = 0; i < 2000; ++i) {
    CAPTURE(i);
    CHECK_FALSE(file.open(secret_of(to_bytes(fmt::format("words {}", i))), {}));
  }
}

TEST_CASE("truncated private keys are refused") {
  const std::string text = ed25519_file().text();
  const std::size_t label = text.find("KEY-----\n") + 8;
  for (std::size_t size = label; size < text.size() - 1; ++size) {
    CAPTURE(size);
    CHECK(contains(file_refusal(text.substr(0, size)), "file is not a valid SSH private key: "));
  }
  Bytes whole = decode_base64(
                    [&] {
                      std::string digits = text.substr(label, text.find("-----END") - label);
                      std::erase(digits, '\n');
                      return digits;
                    }(),
                    Padding::required)
                    .value();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(contains(file_refusal(pem("OPENSSH PRIVATE KEY",
                                    Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)))),
                   "file is not a valid SSH private key: "));
}

}  // namespace gpuaes
