// X25519 (RFC 7748, sections 5 and 6.1), with libcrypto. IoError if libcrypto fails.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr std::size_t x25519_bytes = 32;

// The u-coordinate, least significant byte first.
using PublicKey = std::array<std::byte, x25519_bytes>;

PublicKey point_of(std::span<const std::byte> bytes);  // of 32 bytes

// 32 bytes from the system's random number generator; any 32 bytes are a private key.
Secret make_private_key();

PublicKey public_key_of(const Secret& private_key);

// Whether the encoding is canonical: a number below 2^255 - 19, with the highest bit clear.
bool is_canonical(const PublicKey& key);

// 32 bytes for key derivation, not for direct use as a key. None if the public key has low order, which makes
// every shared secret zero. Encodings that are not canonical are decoded as RFC 7748, section 5 says.
std::optional<Secret> shared_secret(const Secret& private_key, const PublicKey& public_key);

bool has_low_order(const PublicKey& public_key);

}  // namespace gpuaes
