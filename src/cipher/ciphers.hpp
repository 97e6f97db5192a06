// The list of ciphers, and the key of one.
//
// To add a cipher, which has blocks of 16 bytes and a key of 16, 24 or 32:
//   1. its code, in a folder next to this file; a cipher of libcrypto needs none;
//   2. here, its enumerator and its row. A new algorithm is a new Family, even if its modes are those of
//      another: lanes choose their code by the family. The sealed format supports every cipher whose Suite
//      has a number;
//   3. a case for it in every switch over Cipher and Family, also in cuda/: the compiler finds the ones that
//      lack it (-Werror=switch; build until no error is left). A lane without code for it has a `break`.
//      lane/plan_figures.hpp gets its rates;
//   4. in format/formats.cpp, its name in the row of every other format that supports it (cobblestone needs a
//      Suite);
//   5. its name in the text of -c (cli/options.cpp), in the manual pages and in the README.
// Formats refuse a cipher that their rows do not name, and lanes refuse one that they have no case for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "keys/secret.hpp"

namespace gpuaes {

enum class Cipher { aes_128, aes_192, aes_256, kuznyechik };

// Ciphers that share their code and differ in key length. AES seals and opens segments with GCM (NIST SP
// 800-38D), Kuznyechik with MGM (RFC 9058).
enum class Family { aes, kuznyechik };

// How a cipher is used in messages (gpuaes-stream(5), "Message" and "Suite 02").
struct Suite {
  std::optional<std::uint8_t> number;  // in a sealed header; without one, no sealed file has the cipher
  std::string_view label;              // that a message's keys are derived with, its last byte 0
  std::string_view aad;                // of every segment
  std::uint64_t max_segments;          // of a message
};

struct CipherInfo {
  Cipher cipher;
  std::string_view name;  // as -c takes it
  Family family;
  std::size_t key_bytes;
  std::size_t iv_bytes;     // of counter mode alone: what the first counter block begins with, before zeros
  std::size_t nonce_bytes;  // of the mode for segments
  std::optional<Suite> suite;  // none: no message has the cipher
};

inline constexpr std::array ciphers = [] {
  using namespace std::string_view_literals;
  constexpr std::uint64_t gcm_segments = std::uint64_t{1} << 38, mgm_segments = std::uint64_t{1} << 36;
  return std::array{
      CipherInfo{Cipher::aes_128, "aes-128", Family::aes, 16, 16, 12,
                 Suite{{}, "c2sp.org/chunked-encryption@v1+AEAD_AES_128_GCM\0"sv, {}, gcm_segments}},
      CipherInfo{Cipher::aes_192, "aes-192", Family::aes, 24, 16, 12, {}},
      CipherInfo{Cipher::aes_256, "aes-256", Family::aes, 32, 16, 12,
                 Suite{1, "c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0"sv, {}, gcm_segments}},
      CipherInfo{Cipher::kuznyechik, "kuznyechik", Family::kuznyechik, 32, 8, 16,
                 Suite{2, "gpuaes-stream/1+KUZNYECHIK_MGM\0"sv, "gpuaes-stream/1\n"sv, mgm_segments}},
  };
}();

// std::out_of_range for a value that is not in the list.
constexpr const CipherInfo& info(Cipher cipher) {
  return ciphers.at(static_cast<std::size_t>(cipher));
}

static_assert(std::ranges::all_of(ciphers,
                                  [](const CipherInfo& each) { return &info(each.cipher) == &each; }),
              "rows are in the order of the enumerators");

constexpr std::optional<Cipher> find_cipher(std::string_view name) {
  for (const CipherInfo& each : ciphers)
    if (each.name == name) return each.cipher;
  return std::nullopt;
}

// What follows a switch over ciphers or families, for a value without a case. LaneError.
[[noreturn]] void refuse_cipher(Cipher cipher);

// A key of exactly info(cipher).key_bytes bytes.
struct CipherKey {
  Cipher cipher;
  Secret bytes;
};

}  // namespace gpuaes
