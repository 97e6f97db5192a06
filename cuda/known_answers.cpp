#include "known_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "cipher/key.hpp"
#include "error.hpp"

namespace gpuaes::cuda {
namespace {

template <std::size_t size>
using ByteArray = std::array<std::byte, size>;

// The bytes of so many hexadecimal digits.
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

// FIPS 197, appendix C: with their plaintext as the counter, zeros become their ciphertext. Keys are 00 01 02
// and so on.
bool counter_mode_is_right(Lane& lane, Cipher cipher) {
  const auto key_bytes = bytes_of("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  const auto plaintext = bytes_of("00112233445566778899aabbccddeeff");
  const std::array answers{bytes_of("69c4e0d86a7b0430d8cdb78070b4c55a"),
                           bytes_of("dda97ca4864cdfe06eaf70a0ec0d7191"),
                           bytes_of("8ea2b7ca516745bfeafc49904b496089")};
  const CipherKey key = make_key(cipher, key_bytes);
  const ByteArray<16> zeros{};
  ByteArray<16> out{};
  Job job{.operation = Operation::ctr, .key = &key, .in = zeros, .out = out};
  std::ranges::copy(plaintext, std::as_writable_bytes(std::span(job.counter)).begin());
  run(lane, job);
  return out == answers[static_cast<std::size_t>(cipher)];
}

// McGrew and Viega, The Galois/Counter Mode of Operation, test cases 4, 10 and 16. The tag depends on all of
// the ciphertext.
bool gcm_is_right(Lane& lane, Cipher cipher) {
  const auto key_bytes = bytes_of("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
  const auto plain = bytes_of(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aed"
      "f5aa0de657ba637b39");
  const auto aad = bytes_of("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  const std::array tags{bytes_of("5bc94fbc3221a5db94fae95ae7121a47"),
                        bytes_of("2519498e80f1478f37ba55bd6d27618c"),
                        bytes_of("76fc6ece0f4e1768cddf8853bb2d551b")};
  const CipherKey key = make_key(cipher, key_bytes);
  ByteArray<plain.size() + tag_bytes> sealed{};
  ByteArray<plain.size()> opened{};
  static_assert(sizeof sealed <= known_answer_bytes);
  const Nonce nonce{0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
  run(lane, {.operation = Operation::seal,
             .key = &key,
             .in = plain,
             .out = sealed,
             .base_nonce = nonce,
             .aad = aad});
  if (!std::ranges::equal(std::span(sealed).last<tag_bytes>(), tags[static_cast<std::size_t>(cipher)]))
    return false;
  const Job open{.operation = Operation::open,
                 .key = &key,
                 .in = sealed,
                 .out = opened,
                 .base_nonce = nonce,
                 .aad = aad};
  if (run(lane, open) || opened != plain) return false;
  sealed.back() ^= std::byte{1};
  return run(lane, open) == std::size_t{0};
}

}  // namespace

void test_known_answers(Lane& lane) {
  for (const CipherInfo& each : ciphers)
    if (is_aes(each.cipher) &&
        (!counter_mode_is_right(lane, each.cipher) || !gcm_is_right(lane, each.cipher)))
      throw LaneError(fmt::format("{} computes {} wrongly", lane.name(), each.name));
}

}  // namespace gpuaes::cuda
