// HPKE (RFC 9180) in base mode with HKDF-SHA256 and ChaCha20-Poly1305, for one message: the key schedule
// after the KEM. IoError if libcrypto fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "keys/secret.hpp"

namespace gpuaes {

// Of a KEM in the IANA registry. X-Wing is MLKEM768-X25519 (draft-ietf-hpke-pq-03); its shared secret enters
// the key schedule directly.
inline constexpr std::uint16_t hpke_xwing = 0x647a;

// The key and the nonce of the first message (section 5.1).
struct HpkeContext {
  Secret key;    // 32 bytes
  Secret nonce;  // 12 bytes
};

HpkeContext hpke_key_schedule(std::uint16_t kem, const Secret& shared, std::string_view info);

}  // namespace gpuaes
