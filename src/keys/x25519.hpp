// X25519 (RFC 7748, sections 5 and 6.1) by libcrypto. IoError when that fails.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr std::size_t x25519_bytes = 32;

// The u-coordinate, least significant byte first.
using PublicKey = std::array<std::byte, x25519_bytes>;

// 32 bytes from the system's random generator; any 32 bytes are a private key.
Secret make_private_key();

PublicKey public_key_of(const Secret& private_key);

// Whether it is the one way to write its number: below 2^255 - 19, the highest bit clear.
bool is_canonical(const PublicKey& key);

// 32 bytes, to be derived from and not to be a key. None where the public key is not canonical, or such that
// everybody shares zeros with it (its order is low).
std::optional<Secret> shared_secret(const Secret& private_key, const PublicKey& public_key);

}  // namespace gpuaes
