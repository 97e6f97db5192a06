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
//   4. in lane/backends.cpp, its family in the row of every backend that supports it. CPU lanes have to: runs
//      without -l begin with them, and they replace lanes that fail;
//   5. in format/formats.cpp, its name in the row of every other format that supports it (cobblestone needs a
//      Suite);
//   6. its name in the text of -c (cli/options.cpp), in the manual pages and in the README.
// Formats and lanes refuse a cipher that their rows do not name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/rows.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

enum class Cipher { aes_128, aes_192, aes_256, kuznyechik, last = kuznyechik };

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
      CipherInfo{.cipher = Cipher::aes_128,
                 .name = "aes-128",
                 .family = Family::aes,
                 .key_bytes = 16,
                 .iv_bytes = 16,
                 .nonce_bytes = 12,
                 .suite = Suite{.number = {},
                                .label = "c2sp.org/chunked-encryption@v1+AEAD_AES_128_GCM\0"sv,
                                .aad = {},
                                .max_segments = gcm_segments}},
      CipherInfo{.cipher = Cipher::aes_192,
                 .name = "aes-192",
                 .family = Family::aes,
                 .key_bytes = 24,
                 .iv_bytes = 16,
                 .nonce_bytes = 12,
                 .suite = {}},
      CipherInfo{.cipher = Cipher::aes_256,
                 .name = "aes-256",
                 .family = Family::aes,
                 .key_bytes = 32,
                 .iv_bytes = 16,
                 .nonce_bytes = 12,
                 .suite = Suite{.number = 1,
                                .label = "c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0"sv,
                                .aad = {},
                                .max_segments = gcm_segments}},
      CipherInfo{.cipher = Cipher::kuznyechik,
                 .name = "kuznyechik",
                 .family = Family::kuznyechik,
                 .key_bytes = 32,
                 .iv_bytes = 8,
                 .nonce_bytes = 16,
                 .suite = Suite{.number = 2,
                                .label = "gpuaes-stream/1+KUZNYECHIK_MGM\0"sv,
                                .aad = "gpuaes-stream/1\n"sv,
                                .max_segments = mgm_segments}},
  };
}();

static_assert(has_row_for_each(ciphers, &CipherInfo::cipher));

constexpr const CipherInfo& info(Cipher cipher) {
  return row_of(ciphers, cipher);
}

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
