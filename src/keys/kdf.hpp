// What others do for keys: random bytes, comparison, derivation. All sizes are bytes. IoError when they fail,
// which on a sane system is only for lack of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "keys/secret.hpp"

namespace gpuaes {

// From the system's random generator.
void fill_random(std::span<std::byte> out);

// Whether both are the same, in a time that depends on their sizes alone.
bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b);

// RFC 5869 with SHA-512: extract and expand; expand alone.
Secret hkdf_sha512(std::span<const std::byte> input_key, std::span<const std::byte> salt,
                   std::span<const std::byte> info, std::size_t size);
Secret hkdf_expand_sha512(std::span<const std::byte> key, std::span<const std::byte> info, std::size_t size);

// RFC 2104 with SHA-512.
std::array<std::byte, 64> hmac_sha512(std::span<const std::byte> key, std::span<const std::byte> message);

// Derivations that take long call `check` now and then, if it is there, and give way to what it throws.
using Check = std::function<void()>;

// RFC 7914, N = 2^log2_n. Takes 128 * r * (N + p + 2) bytes of memory, and wipes them.
Secret scrypt(std::span<const std::byte> passphrase, std::span<const std::byte> salt, unsigned log2_n,
              unsigned r, unsigned p, std::size_t size, const Check& check = {});

// RFC 8018, section 5.2, with HMAC-SHA-256.
Secret pbkdf2_sha256(std::span<const std::byte> passphrase, std::span<const std::byte> salt,
                     std::uint32_t iterations, std::size_t size, const Check& check = {});

}  // namespace gpuaes
