// The key encapsulation mechanisms (KEMs) of recipients. Anyone can make a shared secret for a public key,
// along with a ciphertext from which the private key recovers it.
//
// To add a KEM: add its constant here and its kind of keys (keyring.hpp), the prefixes of its text in
// recipient.cpp, and an option of gpuaes-keygen.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "keys/secret.hpp"

namespace gpuaes {

// The same for all KEMs.
inline constexpr std::size_t private_key_bytes = 32;

using PublicBytes = std::vector<std::byte>;

struct Encapsulation {
  PublicBytes ciphertext;
  Secret shared;  // for key derivation, not for direct use as a key
};

// The functions throw an IoError if libcrypto fails or lacks the KEM.
struct Kem {
  std::size_t public_bytes, ciphertext_bytes;
  bool (*is_available)();  // whether libcrypto has all that the KEM needs

  PublicBytes (*public_key_of)(const Secret& private_key);
  // Whether the encoding of a public key is canonical. If not, files sealed for it could not be opened.
  bool (*is_canonical)(std::span<const std::byte> public_key);
  // Draws fresh random bytes. None if the public key is not canonical, or has an X25519 part of low order.
  std::optional<Encapsulation> (*encapsulate)(std::span<const std::byte> public_key);
  // Whether a ciphertext is valid for some key: its X25519 part does not have low order, or its P-256 part is
  // a point on the curve. Works even if the KEM is not available.
  bool (*is_ciphertext)(std::span<const std::byte> ciphertext);
  // The shared secret. None if the ciphertext has an X25519 part of low order. A ciphertext for another key
  // also yields a secret, but what is wrapped then fails authentication.
  std::optional<Secret> (*decapsulate)(const Secret& private_key, std::span<const std::byte> ciphertext);
};

// Those with P-256 have no private keys here: they are in hardware, which plugins use.
extern const Kem x25519_kem, xwing_kem, p256_kem, ml_kem_p256_kem, ssh_ed25519_kem;

}  // namespace gpuaes
