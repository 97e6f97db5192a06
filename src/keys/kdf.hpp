// Random secrets, comparison and key derivation. All sizes are in bytes. IoError if the system or libcrypto
// fails, usually for lack of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/libcrypto.hpp"
#include "keys/memory_turns.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// From the system's random number generator.
Secret random_secret(std::size_t size);

// Compares in constant time: the time depends only on the sizes.
bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b);

// Whether `bytes`, which may be a raw key, begin with the text. No early exit.
bool has_prefix(std::span<const std::byte> bytes, std::string_view text);

// RFC 5869 with SHA-512: extract-and-expand, and expand only.
Secret hkdf_sha512(std::span<const std::byte> input_key, std::span<const std::byte> salt,
                   std::span<const std::byte> info, std::size_t size);
Secret hkdf_expand_sha512(std::span<const std::byte> key, std::span<const std::byte> info, std::size_t size);

// RFC 5869 with SHA-256: both steps, and each alone.
Secret hkdf_sha256(std::span<const std::byte> input_key, std::span<const std::byte> salt,
                   std::span<const std::byte> info, std::size_t size);
Secret hkdf_extract_sha256(std::span<const std::byte> salt, std::span<const std::byte> input_key);
Secret hkdf_expand_sha256(std::span<const std::byte> key, std::span<const std::byte> info, std::size_t size);

// FIPS 180-4.
std::array<std::byte, 32> sha256(std::span<const std::byte> bytes);

// SHA-512 (FIPS 180-4) of bytes that are added piece by piece.
class Sha512 {
 public:
  Sha512();
  void add(std::span<const std::byte> bytes);
  std::array<std::byte, 64> finish();  // nothing can be added after it

 private:
  DigestContext context_;
};

// RFC 2104.
std::array<std::byte, 64> hmac_sha512(std::span<const std::byte> key, std::span<const std::byte> message);
std::array<std::byte, 32> hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> message);

// RFC 7914 with N = 2^log2_n. Uses 128 * r * (N + p + 2) bytes of memory and wipes them. Waits while other
// threads need memory for the same (keys/memory_turns.hpp).
Secret scrypt(std::span<const std::byte> passphrase, std::span<const std::byte> salt, unsigned log2_n,
              unsigned r, unsigned p, std::size_t size, const StopCheck& check = {});

// RFC 8018, section 5.2, with HMAC-SHA-256.
Secret pbkdf2_sha256(std::span<const std::byte> passphrase, std::span<const std::byte> salt,
                     std::uint32_t iterations, std::size_t size, const StopCheck& check = {});

// bcrypt_pbkdf(3) of OpenBSD, with at least one round.
Secret bcrypt_pbkdf(std::span<const std::byte> passphrase, std::span<const std::byte> salt,
                    std::uint32_t rounds, std::size_t size, const StopCheck& check = {});

}  // namespace gpuaes
