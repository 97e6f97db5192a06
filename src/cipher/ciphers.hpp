// The list of ciphers, and cipher keys.
//
// To add a cipher, whose key must have 16, 24 or 32 bytes, whose nonces at most 16 (a longer Nonce would also
// change the counter blocks of GCM and MGM and the parameters of kernels), and whose blocks 16 if it has a
// counter mode:
//   1. Add its enumerator and its row below. A new algorithm is a new Family, even if it uses the modes of
//      another, because lanes select their code by family. The sealed format supports every cipher whose
//      Suite has numbers.
//   2. Add a case to every switch over Cipher and Family, including those in cuda/. The compiler reports
//      switches that lack it (-Werror=switch). In code that does not support the cipher, and where libcrypto
//      provides the mode, the case is a `break`. CPU lanes must support it: runs without -l begin with them,
//      and they replace lanes that fail. Add its rate to lane/plan.cpp.
//   3. Extend the `supports` function of every other format that supports it (cobblestone needs a Suite).
//   4. Add its name to the text of -c (cli/stream_options.hpp), to the manual pages and to the README.
// Formats refuse a cipher that they do not support.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/rows.hpp"
#include "cipher/segment_rules.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

enum class Cipher { aes_128, aes_192, aes_256, kuznyechik, chacha20_poly1305, last = chacha20_poly1305 };

// Ciphers that share code and differ in key length. AES seals and opens segments with GCM (NIST SP 800-38D),
// Kuznyechik with MGM (RFC 9058), and ChaCha20 with Poly1305 (RFC 8439).
enum class Family { aes, kuznyechik, chacha20 };

// The numbers in the headers of sealed files.
struct SuiteNumbers {
  std::uint8_t whole;     // of files with one message
  std::uint8_t in_parts;  // of files made of parts
};

// How messages use a cipher (gpuaes-stream(5), "Message", "Suite 02" and "Suites 03 and 04").
struct Suite {
  std::optional<SuiteNumbers> numbers;  // none if sealed files do not support the cipher
  std::string_view label;               // for deriving a message's keys; ends with a zero byte
  std::string_view aad;                 // of every segment
  std::uint64_t max_segments;           // in a message
};

// How CPU lanes compute a mode: with the cipher of libcrypto that has this name, or with our own code for the
// family if it is null.
using LibcryptoName = const char*;

// The same in libgcrypt: gcry_cipher_algos and gcry_cipher_modes of its gcrypt.h.
struct LibgcryptName {
  int algorithm, mode;
};

struct CounterMode {
  std::size_t iv_bytes;  // the first counter block is the IV followed by zeros
  LibcryptoName libcrypto;
  std::optional<LibgcryptName> libgcrypt{};
};

// The mode that seals and opens segments.
struct AeadMode {
  std::string_view name;  // in gpuaes-bench
  std::size_t nonce_bytes;
  LibcryptoName libcrypto;
  std::optional<LibgcryptName> libgcrypt{};
};

struct CipherInfo {
  Cipher cipher;
  std::string_view name;  // as given to -c
  Family family;
  std::size_t key_bytes;
  std::optional<CounterMode> ctr;  // none if the raw and openssl formats do not support the cipher
  AeadMode aead;
  SegmentRules segments;       // of the formats that seal with it, and the only ones that CUDA lanes support
  std::optional<Suite> suite;  // none if messages do not support the cipher
};

inline constexpr std::array ciphers = [] {
  using namespace std::string_view_literals;
  constexpr std::uint64_t gcm_segments = std::uint64_t{1} << 38, mgm_segments = std::uint64_t{1} << 36;
  return std::array{
      CipherInfo{
          .cipher = Cipher::aes_128,
          .name = "aes-128",
          .family = Family::aes,
          .key_bytes = 16,
          .ctr = CounterMode{.iv_bytes = 16, .libcrypto = "AES-128-CTR", .libgcrypt = {{7, 6}}},
          .aead = {.name = "gcm", .nonce_bytes = 12, .libcrypto = "AES-128-GCM", .libgcrypt = {{7, 9}}},
          .suite = Suite{.label = "c2sp.org/chunked-encryption@v1+AEAD_AES_128_GCM\0"sv,
                         .max_segments = gcm_segments}},
      CipherInfo{
          .cipher = Cipher::aes_192,
          .name = "aes-192",
          .family = Family::aes,
          .key_bytes = 24,
          .ctr = CounterMode{.iv_bytes = 16, .libcrypto = "AES-192-CTR", .libgcrypt = {{8, 6}}},
          .aead = {.name = "gcm", .nonce_bytes = 12, .libcrypto = "AES-192-GCM", .libgcrypt = {{8, 9}}}},
      CipherInfo{
          .cipher = Cipher::aes_256,
          .name = "aes-256",
          .family = Family::aes,
          .key_bytes = 32,
          .ctr = CounterMode{.iv_bytes = 16, .libcrypto = "AES-256-CTR", .libgcrypt = {{9, 6}}},
          .aead = {.name = "gcm", .nonce_bytes = 12, .libcrypto = "AES-256-GCM", .libgcrypt = {{9, 9}}},
          .suite = Suite{.numbers = SuiteNumbers{.whole = 1, .in_parts = 3},
                         .label = "c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0"sv,
                         .max_segments = gcm_segments}},
      CipherInfo{.cipher = Cipher::kuznyechik,
                 .name = "kuznyechik",
                 .family = Family::kuznyechik,
                 .key_bytes = 32,
                 .ctr = CounterMode{.iv_bytes = 8, .libcrypto = nullptr},
                 .aead = {.name = "mgm", .nonce_bytes = 16, .libcrypto = nullptr},
                 .suite = Suite{.numbers = SuiteNumbers{.whole = 2, .in_parts = 4},
                                .label = "gpuaes-stream/1+KUZNYECHIK_MGM\0"sv,
                                .aad = "gpuaes-stream/1\n"sv,
                                .max_segments = mgm_segments}},
      // Of age files, which derive their keys in their own way. Positions in a file must fit in 63 bits.
      CipherInfo{.cipher = Cipher::chacha20_poly1305,
                 .name = "chacha20-poly1305",
                 .family = Family::chacha20,
                 .key_bytes = 32,
                 .aead = {.name = "poly1305",
                          .nonce_bytes = 12,
                          .libcrypto = "ChaCha20-Poly1305",
                          .libgcrypt = {{316, 10}}},
                 .segments = age_segments,
                 .suite = Suite{.max_segments = std::uint64_t{1} << 46}},
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

// Called after a switch over ciphers or families, for a value without a case. Throws LaneError.
[[noreturn]] void refuse_cipher(Cipher cipher);

// A number that no other key of this process has. Lanes recognize a key by it: an address may be that of an
// earlier key.
std::uint64_t new_key_id();

// A key of exactly info(cipher).key_bytes bytes.
struct CipherKey {
  Cipher cipher;
  Secret bytes;
  std::uint64_t id = new_key_id();
};

}  // namespace gpuaes
