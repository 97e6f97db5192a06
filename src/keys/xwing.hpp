// X-Wing (draft-connolly-cfrg-xwing-kem-10), a KEM that combines ML-KEM-768 and X25519: its shared secret is
// safe as long as one of the two is. IoError if libcrypto fails or has no ML-KEM.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "keys/kem.hpp"
#include "keys/ml_kem.hpp"
#include "keys/secret.hpp"
#include "keys/x25519.hpp"

namespace gpuaes {

// The draft, section 5.1. A private key is a seed of 32 bytes.
inline constexpr std::size_t xwing_public_bytes = ml_kem_public_bytes + x25519_bytes;
inline constexpr std::size_t xwing_ciphertext_bytes = ml_kem_ciphertext_bytes + x25519_bytes;
inline constexpr std::size_t xwing_random_bytes = ml_kem_random_bytes + x25519_bytes;

PublicBytes xwing_public_key(const Secret& private_key);

// Whether the ML-KEM key passes the check of FIPS 203, section 7.2, and the X25519 key is canonical.
bool is_xwing_key(std::span<const std::byte> public_key);

// EncapsulateDerand of the draft. None if the public key fails the check, or its X25519 key has low order.
// The draft allows that, but key generation never produces it.
std::optional<Encapsulation> xwing_encapsulate(std::span<const std::byte> public_key, const Secret& random);

// Decapsulate of the draft. None if the X25519 part of the ciphertext has low order,
// which the draft allows, but encapsulation never produces.
std::optional<Secret> xwing_decapsulate(const Secret& private_key, std::span<const std::byte> ciphertext);

}  // namespace gpuaes
