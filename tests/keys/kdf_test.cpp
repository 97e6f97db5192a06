// Key derivation against published vectors where these exist, and random bytes.
#include "keys/kdf.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>

#include "base/random.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/keys.hpp"

namespace gpuaes {
namespace {

// One byte for each value from `first` to `last`.
Bytes counting(unsigned first, unsigned last) {
  Bytes bytes;
  for (unsigned each = first; each <= last; ++each) bytes.push_back(static_cast<std::byte>(each));
  return bytes;
}

Bytes mac(const Bytes& key, const Bytes& message) {
  const auto result = hmac_sha512(key, message);
  return {result.begin(), result.end()};
}

// HKDF-Expand (RFC 5869, section 2.3) in terms of HMAC.
Bytes expand_by_hmac(const Bytes& key, const Bytes& info, std::size_t size) {
  Bytes out, block;
  for (unsigned i = 1; out.size() < size; ++i) {
    block.insert(block.end(), info.begin(), info.end());
    block.push_back(static_cast<std::byte>(i));
    block = mac(key, block);
    out.insert(out.end(), block.begin(), block.end());
  }
  out.resize(size);
  return out;
}

}  // namespace

TEST_CASE("HMAC-SHA-512 matches RFC 4231, test cases 1, 2, 3 and 6") {
  CHECK(mac(Bytes(20, std::byte{0x0b}), to_bytes("Hi There")) ==
        from_hex("87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
                 "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"));
  CHECK(mac(to_bytes("Jefe"), to_bytes("what do ya want for nothing?")) ==
        from_hex("164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                 "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"));
  CHECK(mac(Bytes(20, std::byte{0xaa}), Bytes(50, std::byte{0xdd})) ==
        from_hex("fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39"
                 "bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb"));
  CHECK(
      mac(Bytes(131, std::byte{0xaa}), to_bytes("Test Using Larger Than Block-Size Key - Hash Key First")) ==
      from_hex("80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
               "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"));
}

// RFC 5869 has vectors only for SHA-1 and SHA-256. These are its inputs, and two other implementations agree
// on the outputs.
TEST_CASE("HKDF-SHA-512 matches other implementations for the inputs of RFC 5869, appendix A") {
  const Bytes key(22, std::byte{0x0b});
  CHECK(bytes_of(hkdf_sha512(key, counting(0, 0x0c), counting(0xf0, 0xf9), 42)) ==
        from_hex("832390086cda71fb47625bb5ceb168e4c8e26a1a16ed34d9fc7fe92c1481579338da362cb8d9f925d7cb"));
  CHECK(bytes_of(hkdf_sha512(counting(0, 0x4f), counting(0x60, 0xaf), counting(0xb0, 0xff), 82)) ==
        from_hex("ce6c97192805b346e6161e821ed165673b84f400a2b514b2fe23d84cd189ddf1b695b48cbd1c8388"
                 "441137b3ce28f16aa64ba33ba466b24df6cfcb021ecff235f6a2056ce3af1de44d572097a8505d9e7a93"));
  CHECK(bytes_of(hkdf_sha512(key, {}, {}, 42)) ==
        from_hex("f5fa02b18298a72a8c23898a8703472c6eb179dc204c03425c970e3b164bf90fff22d04836d0e2343bac"));
}

TEST_CASE("HKDF matches its definition in terms of HMAC for any sizes") {
  for (const std::size_t key_size : {16, 32, 64})
    for (const std::size_t info_size : {0, 1, 72, 1096})
      for (const std::size_t size : {1, 32, 60, 64, 65, 76, 200}) {
        const Bytes key = test_bytes(key_size), salt = test_bytes(24, 9), info = test_bytes(info_size, 100);
        CAPTURE(key_size, info_size, size);
        CHECK(bytes_of(hkdf_expand_sha512(key, info, size)) == expand_by_hmac(key, info, size));
        CHECK(bytes_of(hkdf_sha512(key, salt, info, size)) == expand_by_hmac(mac(salt, key), info, size));
      }
}

TEST_CASE("scrypt matches RFC 7914, section 12") {
  CHECK(bytes_of(scrypt({}, {}, 4, 1, 1, 64)) ==
        from_hex("77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                 "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"));
  CHECK(bytes_of(scrypt(to_bytes("password"), to_bytes("NaCl"), 10, 8, 16, 64)) ==
        from_hex("fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                 "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"));
  CHECK(bytes_of(scrypt(to_bytes("pleaseletmein"), to_bytes("SodiumChloride"), 14, 8, 1, 64)) ==
        from_hex("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                 "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"));
}

TEST_CASE("a failure of libcrypto is an IoError that names the call") {
  CHECK(contains(failure_of([] { scrypt({}, {}, 0, 8, 1, 32); }), "io: libcrypto: EVP_PBE_scrypt: "));
  CHECK(contains(failure_of([] { hkdf_expand_sha512(Bytes(32), {}, 255 * 64 + 1); }),
                 "io: libcrypto: EVP_KDF_derive: "));
}

TEST_CASE("PBKDF2 with HMAC-SHA-256 matches RFC 7914, section 11") {
  CHECK(bytes_of(pbkdf2_sha256(to_bytes("passwd"), to_bytes("salt"), 1, 64)) ==
        from_hex("55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
                 "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"));
  CHECK(bytes_of(pbkdf2_sha256(to_bytes("Password"), to_bytes("NaCl"), 80000, 64)) ==
        from_hex("4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
                 "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"));
}

TEST_CASE("random bytes do not repeat, and fill the whole buffer, even if that takes several calls") {
  std::set<Bytes> seen;
  fill_random({});
  for (const std::size_t size : {16, 16, 255, 256, 257, 512, 5000}) {
    CAPTURE(size);
    Bytes bytes(size);
    fill_random(bytes);
    CHECK(seen.insert(bytes).second);
    CHECK(std::search_n(bytes.begin(), bytes.end(), 16, std::byte{0}) == bytes.end());
    CHECK(
        std::ranges::any_of(std::span(bytes).last(16), [](std::byte byte) { return byte != std::byte{0}; }));
  }
}

// As the package bcrypt of Python derives them.
TEST_CASE("bcrypt_pbkdf derives the keys of another implementation") {
  struct Vector {
    std::string_view passphrase, salt;
    std::uint32_t rounds;
    std::string_view key;
  };
  for (const auto& [passphrase, salt, rounds, key] :
       {Vector{"password", "salt", 4, "5bbf0cc293587f1c3635555c27796598d47e579071bf427e9d8fbe842aba34d9"},
        Vector{"password", std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16), 1,
               "5663787fdb45398613a25850db6a7a85"},
        Vector{"p", "0123456789abcdef", 16,
               "96152b55d7bb93e00a7eb633e773f968fd587cd27582832cf39f98f4d6ef26522c6b60c3f7748fd359b5b63918efa"
               "d3e"},
        Vector{"word", "s", 3, "9b"}}) {
    CAPTURE(passphrase, rounds);
    const Bytes expected = from_hex(key);
    CHECK(bytes_of(bcrypt_pbkdf(to_bytes(passphrase), to_bytes(salt), rounds, expected.size())) == expected);
  }
  CHECK_THROWS_AS(bcrypt_pbkdf(to_bytes("p"), to_bytes("s"), 1 << 30, 32, [] { throw Cancelled{}; }),
                  Cancelled);
}

}  // namespace gpuaes
