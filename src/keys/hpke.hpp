// HPKE (RFC 9180) in base mode with HKDF-SHA256 and ChaCha20-Poly1305, for one message: the key schedule
// after the KEM. IoError if libcrypto fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "keys/secret.hpp"

namespace gpuaes {

// KEMs in the IANA registry: DHKEM(P-256, HKDF-SHA256), and two hybrid ones of draft-ietf-hpke-pq-03, whose
// shared secrets enter the key schedule directly: MLKEM768-P256 and MLKEM768-X25519, which is X-Wing.
inline constexpr std::uint16_t hpke_p256 = 0x0010, hpke_ml_kem_p256 = 0x0050, hpke_xwing = 0x647a;

// The key and the nonce of the first message (section 5.1).
struct HpkeContext {
  Secret key;  // 32 bytes
  std::array<std::byte, 12> nonce;
};

// The shared secret of a DHKEM with HKDF-SHA256 (section 4.1): 32 bytes. `exchanged` is that of the
// Diffie-Hellman exchange; the public keys are as HPKE serializes them.
Secret dhkem_shared_secret(std::uint16_t kem, const Secret& exchanged, std::span<const std::byte> ephemeral,
                           std::span<const std::byte> recipient);

HpkeContext hpke_key_schedule(std::uint16_t kem, const Secret& shared, std::string_view info);

}  // namespace gpuaes
