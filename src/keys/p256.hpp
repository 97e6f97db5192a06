// Elliptic-curve Diffie-Hellman on P-256 (SP 800-186; SEC 1, version 2) from libcrypto. IoError if libcrypto
// fails.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "keys/kem.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr std::size_t p256_compressed_bytes = 33, p256_point_bytes = 65;

// The uncompressed form of a point in one of the two forms (SEC 1, section 2.3). None if it is neither, or
// not on the curve.
std::optional<PublicBytes> p256_point(std::span<const std::byte> encoded);

// The public key of a fresh key pair, uncompressed, and the x-coordinate that it shares with an uncompressed
// point.
Encapsulation exchange_p256(std::span<const std::byte> point);

}  // namespace gpuaes
