// ML-KEM-768 (FIPS 203) from libcrypto, which has provided it since OpenSSL 3.5. It is looked up by name at
// run time, so the same program also works with older versions, except for post-quantum recipients. IoError
// if libcrypto lacks ML-KEM or fails.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "keys/kem.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// FIPS 203, section 7.1 and table 3.
inline constexpr std::size_t ml_kem_seed_bytes = 64;  // d || z
inline constexpr std::size_t ml_kem_public_bytes = 1184, ml_kem_ciphertext_bytes = 1088;
inline constexpr std::size_t ml_kem_random_bytes = 32, ml_kem_shared_bytes = 32;

bool has_ml_kem();

// The text of a message: which version of OpenSSL is needed, and which one this is.
std::string lacks_ml_kem();
inline constexpr char lacks_ml_kem_hint[] =
    "use the .tar.gz or the wheel, which contain a newer libcrypto, or a newer system";

// The encapsulation key of the key pair that ML-KEM.KeyGen_internal derives from the seed.
PublicBytes ml_kem_public_key(std::span<const std::byte> seed);

// Whether the encapsulation key passes the check of FIPS 203, section 7.2.
bool is_ml_kem_key(std::span<const std::byte> public_key);

// ML-KEM.Encaps_internal with these random bytes. None if the key fails the check.
std::optional<Encapsulation> ml_kem_encapsulate(std::span<const std::byte> public_key,
                                                std::span<const std::byte> random);

// ML-KEM.Decaps. The result is random if the ciphertext was made for another key or was modified (implicit
// rejection).
Secret ml_kem_decapsulate(std::span<const std::byte> seed, std::span<const std::byte> ciphertext);

// The shared secret of a hybrid KEM: SHA3-256 of the secrets of ML-KEM and of a Diffie-Hellman exchange, the
// ephemeral and the recipient's public key of the exchange, and the label of the KEM (draft-ietf-hpke-pq-03,
// section 4; X-Wing, section 5.3).
Secret combine_with_ml_kem(const Secret& ml_kem, const Secret& exchanged,
                           std::span<const std::byte> ephemeral, std::span<const std::byte> recipient,
                           std::string_view label);

}  // namespace gpuaes
