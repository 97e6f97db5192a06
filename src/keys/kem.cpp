#include "keys/kem.hpp"

#include "keys/kdf.hpp"
#include "keys/ml_kem.hpp"
#include "keys/x25519.hpp"
#include "keys/xwing.hpp"

namespace gpuaes {

// X25519 as a KEM: the ciphertext is an ephemeral public key.
constinit const Kem x25519_kem{
    .public_bytes = x25519_bytes,
    .ciphertext_bytes = x25519_bytes,
    .is_available = [] { return true; },
    .public_key_of =
        [](const Secret& private_key) {
          const PublicKey point = public_key_of(private_key);
          return PublicBytes(point.begin(), point.end());
        },
    .is_canonical = [](std::span<const std::byte> public_key) { return is_canonical(point_of(public_key)); },
    .encapsulate = [](std::span<const std::byte> public_key) -> std::optional<Encapsulation> {
      if (!x25519_kem.is_canonical(public_key)) return std::nullopt;
      const Secret ephemeral = make_private_key();
      std::optional<Secret> shared = shared_secret(ephemeral, point_of(public_key));
      if (!shared) return std::nullopt;
      return Encapsulation{x25519_kem.public_key_of(ephemeral), std::move(*shared)};
    },
    .decapsulate =
        [](const Secret& private_key, std::span<const std::byte> ciphertext) {
          return shared_secret(private_key, point_of(ciphertext));
        },
};

constinit const Kem xwing_kem{
    .public_bytes = xwing_public_bytes,
    .ciphertext_bytes = xwing_ciphertext_bytes,
    .is_available = has_ml_kem,
    .public_key_of = xwing_public_key,
    .is_canonical = is_xwing_key,
    .encapsulate =
        [](std::span<const std::byte> public_key) {
          return xwing_encapsulate(public_key, random_secret(xwing_random_bytes));
        },
    .decapsulate = xwing_decapsulate,
};

}  // namespace gpuaes
