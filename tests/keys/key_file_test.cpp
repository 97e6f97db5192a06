// What a file of keys contains.
#include "keys/key_file.hpp"

#include <array>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.hpp"
#include "keys/recipient.hpp"
#include "support/catch.hpp"

namespace gpuaes {
namespace {

const std::array<std::string, 2> encrypted{"sealed/1\n", "-----BEGIN SEALED"};

struct Words {
  std::string operator()(const RawKey& key) const {
    const char* const forms[] = {"digits", "bytes", "text"};
    return std::string(forms[static_cast<int>(key.form)]) + (key.is_certain() ? ", certain" : "");
  }
  std::string operator()(IdentityLines) const { return "identities"; }
  std::string operator()(SshPrivateKey) const { return "ssh identity"; }
  std::string operator()(RecipientLines lines) const {
    return lines.first_is_ssh ? "ssh recipients" : "recipients";
  }
  std::string operator()(EncryptedKeyFile) const { return "encrypted"; }
  std::string operator()(const NoKeys& none) const {
    return std::string(none.broken_key ? "no key: " : "nothing: ") + none.why.what();
  }
};

std::string classified(std::string_view contents) {
  return std::visit(Words{}, classify_key_file(bytes_of(contents), "FILE", encrypted));
}

}  // namespace

TEST_CASE("a raw key is recognized by its length, and as digits first") {
  CHECK(classified(std::string(64, 'a') + " \r\n") == "digits, certain");
  CHECK(classified(std::string(32, '7')) == "digits, certain");
  CHECK(classified(std::string(32, '\x80')) == "bytes, certain");
  CHECK(classified(std::string(16, '\x80')) == "bytes");
  CHECK(classified(std::string(24, 'x')) == "text");
  CHECK(classified("\xff\xfe" + std::string(30, '\x80')) == "bytes, certain");  // not a byte order mark
}

TEST_CASE("the first line that is not a comment says what other contents are") {
  const std::string comment = "# a comment\n\n",
                    recipient = text_of(recipient_of(make_identity(KeyKind::x25519)));
  CHECK(classified(comment + "AGE-SECRET-KEY-1") == "identities");
  CHECK(classified(comment + "age-plugin-x-1").starts_with("no key"));
  CHECK(classified("AGE-PLUGIN-X-1") == "identities");
  CHECK(classified(comment + recipient + "\nAGE-SECRET-KEY-1") == "recipients");
  CHECK(classified("ecdsa-sha2-nistp256 x") == "ssh recipients");
  CHECK(classified("-----BEGIN OPENSSH PRIVATE KEY-----\n") == "ssh identity");
  for (const std::string_view begin : encrypted)
    CHECK(classified(std::string(begin) + "AGE-SECRET-KEY-1") == "encrypted");
}

TEST_CASE("other contents are refused with the reason") {
  CHECK(classified("# public key: age1\n") == "nothing: FILE contains no identity");
  CHECK(classified("\xef\xbb\xbf"
                   "AGE-SECRET-KEY-1") == "nothing: FILE begins with a UTF-8 byte order mark");
  CHECK(classified("\xfe\xff\0A") == "nothing: FILE begins with a UTF-16 byte order mark");
  CHECK(classified("") == "no key: FILE is empty");
  CHECK(classified(" \n") == "no key: FILE is empty");
  CHECK(classified("abc") == "no key: the key in FILE has 3 hexadecimal digits");
  CHECK(classified(std::string(63, 'a') + "x") ==
        "no key: the key in FILE has 64 characters, but not all are hexadecimal digits");
  CHECK(classified("secret") == "no key: the key in FILE has an invalid length of 6 bytes");
  CHECK(classified(std::string(5000, 'x')) == "no key: the key in FILE is longer than 4096 bytes");
}

}  // namespace gpuaes
