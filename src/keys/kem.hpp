// The key encapsulation mechanisms (KEMs) of recipients. Anyone can make a shared secret for a public key,
// along with a ciphertext from which the private key recovers it. For some, HPKE then derives keys from it.
//
// To add a KEM: add its constant here, its kind of keys (keyring.hpp), and an option of gpuaes-keygen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
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
  std::uint16_t hpke_id = 0;  // in HPKE's registry at IANA, if the shared secret is for HPKE
  bool (*is_available)();     // whether libcrypto has all that the KEM needs

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

// xwing_kem is X-Wing (draft-connolly-cfrg-xwing-kem-10), which combines ML-KEM-768 and X25519: its shared
// secret is safe as long as one of the two is. A private key is a seed of 32 bytes. Those with P-256 have no
// private keys here: they are in hardware, which plugins use.
extern const Kem x25519_kem, xwing_kem, p256_kem, ml_kem_p256_kem, ssh_ed25519_kem;

// EncapsulateDerand of X-Wing. None as from Kem::encapsulate(): the draft allows an X25519 key of low order,
// but key generation never produces it.
std::optional<Encapsulation> xwing_encapsulate(std::span<const std::byte> public_key, const Secret& random);

// Points, compressed and not (SEC 1, section 2.3).
inline constexpr std::size_t p256_compressed_bytes = 33, p256_point_bytes = 65;

// HPKE (RFC 9180) in base mode with HKDF-SHA256 and ChaCha20-Poly1305, for one message ------------------

// The key and the nonce of the first message (section 5.1).
struct HpkeContext {
  Secret key;  // 32 bytes
  std::array<std::byte, 12> nonce;
};

// The shared secret of a DHKEM with HKDF-SHA256 (section 4.1): 32 bytes. `exchanged` is that of the
// Diffie-Hellman exchange; the public keys are as HPKE serializes them. The shared secrets of hybrid KEMs
// (draft-ietf-hpke-pq-03) enter the key schedule directly.
Secret dhkem_shared_secret(std::uint16_t kem, const Secret& exchanged, std::span<const std::byte> ephemeral,
                           std::span<const std::byte> recipient);

// `kem` is its number in the registry.
HpkeContext hpke_key_schedule(std::uint16_t kem, const Secret& shared, std::string_view info);

}  // namespace gpuaes
