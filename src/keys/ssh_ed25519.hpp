// Ed25519 keys of SSH (RFC 8709) for key agreement, as age does it (c2sp.org/age, "The ssh-ed25519 recipient
// type"): the public key becomes one of X25519. IoError if libcrypto fails.
//
// ssh_ed25519_kem (kem.hpp) takes public keys as SSH encodes them, and the seeds of Ed25519 as private keys.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "keys/kem.hpp"
#include "keys/x25519.hpp"

namespace gpuaes {

inline constexpr char ssh_ed25519_type[] = "ssh-ed25519";
inline constexpr std::string_view ssh_ed25519_label = "age-encryption.org/v1/ssh-ed25519";

// The X25519 public key for a public key as SSH encodes it. None unless the encoding and its Ed25519 point
// are canonical, and the point is on the curve and of neither order 1 nor 2.
std::optional<PublicKey> x25519_key_of(std::span<const std::byte> ssh_key);

}  // namespace gpuaes
