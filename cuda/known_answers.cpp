#include "known_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/error.hpp"
#include "keys/key.hpp"

namespace gpuaes::cuda {
namespace {

template <std::size_t size>
using ByteArray = std::array<std::byte, size>;

// Decodes hexadecimal text.
template <std::size_t digits>
ByteArray<digits / 2> bytes_of(const char (&text)[digits]) {
  ByteArray<digits / 2> bytes{};
  parse_hex({text, digits - 1}, bytes);
  return bytes;
}

CipherKey make_key(Cipher cipher, std::span<const std::byte> bytes) {
  CipherKey key{cipher, Secret(info(cipher).key_bytes)};
  std::ranges::copy(bytes.first(key.bytes.size()), key.bytes.bytes().begin());
  return key;
}

std::optional<std::size_t> run(Lane& lane, const Job& job) {
  lane.start(job);
  return lane.finish();
}

// With the plaintext as the counter, CTR mode turns zeros into the ciphertext.
bool enciphers(Lane& lane, const CipherKey& key, const ByteArray<16>& plaintext,
               const ByteArray<16>& ciphertext) {
  const ByteArray<16> zeros{};
  ByteArray<16> out{};
  Job job{.operation = Operation::ctr, .key = &key, .in = zeros, .out = out};
  std::ranges::copy(plaintext, std::as_writable_bytes(std::span(job.counter)).begin());
  run(lane, job);
  return out == ciphertext;
}

// The caller has set the key, nonce and associated data of `job`. The tag depends on the whole ciphertext, so
// only the tag is compared.
template <std::size_t size>
bool seals(Lane& lane, Job job, const ByteArray<size>& plain, const ByteArray<tag_bytes>& tag) {
  ByteArray<size + tag_bytes> sealed{};
  ByteArray<size> opened{};
  static_assert(sizeof sealed <= known_answer_bytes);
  job.operation = Operation::seal;
  job.in = plain;
  job.out = sealed;
  run(lane, job);
  if (!std::ranges::equal(std::span(sealed).template last<tag_bytes>(), tag)) return false;
  job.operation = Operation::open;
  job.in = sealed;
  job.out = opened;
  if (run(lane, job) || opened != plain) return false;
  sealed.back() ^= std::byte{1};
  return run(lane, job) == std::size_t{0};
}

// FIPS 197, appendix C, with the key 00 01 02 ...; McGrew and Viega, The Galois/Counter Mode of Operation,
// test cases 4, 10 and 16.
bool aes_is_right(Lane& lane, Cipher cipher, const ByteArray<16>& ciphertext,
                  const ByteArray<tag_bytes>& tag) {
  const CipherKey key =
      make_key(cipher, bytes_of("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"));
  const CipherKey gcm_key =
      make_key(cipher, bytes_of("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"));
  const auto plain = bytes_of(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aed"
      "f5aa0de657ba637b39");
  const auto aad = bytes_of("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  const Job job{.key = &gcm_key,
                .base_nonce = {{0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88}, 12},
                .aad = aad};
  return enciphers(lane, key, bytes_of("00112233445566778899aabbccddeeff"), ciphertext) &&
         seals(lane, job, plain, tag);
}

// RFC 7801, section 5.5; RFC 9058, appendix A.1, example 1.
bool kuznyechik_is_right(Lane& lane) {
  const CipherKey key = make_key(
      Cipher::kuznyechik, bytes_of("8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef"));
  const auto plain = bytes_of(
      "1122334455667700ffeeddccbbaa998800112233445566778899aabbcceeff0a112233445566778899aabbcceeff0a00223344"
      "5566778899aabbcceeff0a0011aabbcc");
  const auto aad =
      bytes_of("0202020202020202010101010101010104040404040404040303030303030303ea0505050505050505");
  const Job job{.key = &key,
                .base_nonce = {{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x00, 0xff, 0xee, 0xdd, 0xcc, 0xbb,
                                0xaa, 0x99, 0x88},
                               16},
                .aad = aad};
  return enciphers(lane, key, bytes_of("1122334455667700ffeeddccbbaa9988"),
                   bytes_of("7f679d90bebc24305a468d42b9d4edcd")) &&
         seals(lane, job, plain, bytes_of("cf5d656f40c34f5c46e8bb0e29fcdb4c"));
}

// RFC 8439, section 2.8.2. The lane sets the flag in the nonce's last byte, so that is given without it.
bool chacha20_is_right(Lane& lane) {
  const CipherKey key =
      make_key(Cipher::chacha20_poly1305,
               bytes_of("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"));
  const auto plain = bytes_of(
      "4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a204966204920636f756c"
      "64206f"
      "6666657220796f75206f6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73637265656e20776f75"
      "6c6420"
      "62652069742e");
  const auto aad = bytes_of("50515253c0c1c2c3c4c5c6c7");
  const Job job{.key = &key,
                .rules = info(key.cipher).segments,
                .base_nonce = {{7, 0, 0, 0, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47 ^ 1}, 12},
                .aad = aad};
  return seals(lane, job, plain, bytes_of("1ae10b594f09e26a7e902ecbd0600691"));
}

bool is_right(Lane& lane, Cipher cipher) {
  switch (cipher) {
    case Cipher::aes_128:
      return aes_is_right(lane, cipher, bytes_of("69c4e0d86a7b0430d8cdb78070b4c55a"),
                          bytes_of("5bc94fbc3221a5db94fae95ae7121a47"));
    case Cipher::aes_192:
      return aes_is_right(lane, cipher, bytes_of("dda97ca4864cdfe06eaf70a0ec0d7191"),
                          bytes_of("2519498e80f1478f37ba55bd6d27618c"));
    case Cipher::aes_256:
      return aes_is_right(lane, cipher, bytes_of("8ea2b7ca516745bfeafc49904b496089"),
                          bytes_of("76fc6ece0f4e1768cddf8853bb2d551b"));
    case Cipher::kuznyechik:
      return kuznyechik_is_right(lane);
    case Cipher::chacha20_poly1305:
      return chacha20_is_right(lane);
  }
  refuse_cipher(cipher);
}

}  // namespace

void test_known_answers(Lane& lane, Cipher cipher) {
  if (!is_right(lane, cipher))
    throw LaneError(fmt::format("{} failed its self-test for {}", lane.name(), info(cipher).name),
                    Advice::use_cpu_lanes);
}

}  // namespace gpuaes::cuda
