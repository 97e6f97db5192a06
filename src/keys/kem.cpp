#include "keys/kem.hpp"

#include <string_view>

#include "base/bytes.hpp"
#include "keys/hpke.hpp"
#include "keys/kdf.hpp"
#include "keys/ml_kem.hpp"
#include "keys/p256.hpp"
#include "keys/x25519.hpp"
#include "keys/xwing.hpp"

namespace gpuaes {

namespace {

constexpr std::string_view ml_kem_p256_label = "MLKEM768-P256";

}  // namespace

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
    .is_ciphertext = [](std::span<const std::byte> share) { return !has_low_order(point_of(share)); },
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
    .is_ciphertext =
        [](std::span<const std::byte> ciphertext) {
          return x25519_kem.is_ciphertext(ciphertext.subspan(ml_kem_ciphertext_bytes));
        },
    .decapsulate = xwing_decapsulate,
};

// DHKEM(P-256, HKDF-SHA256) of HPKE (RFC 9180, section 4.1). Recipients are compressed points.
constinit const Kem p256_kem{
    .public_bytes = p256_compressed_bytes,
    .ciphertext_bytes = p256_point_bytes,
    .is_available = [] { return true; },
    .public_key_of = nullptr,
    .is_canonical = [](std::span<const std::byte> public_key) { return p256_point(public_key).has_value(); },
    .encapsulate = [](std::span<const std::byte> public_key) -> std::optional<Encapsulation> {
      const std::optional<PublicBytes> recipient = p256_point(public_key);
      if (!recipient) return std::nullopt;
      Encapsulation made = exchange_p256(*recipient);
      made.shared = dhkem_shared_secret(hpke_p256, made.shared, made.ciphertext, *recipient);
      return made;
    },
    .is_ciphertext = [](std::span<const std::byte> point) { return p256_point(point).has_value(); },
    .decapsulate = nullptr,
};

// MLKEM768-P256 (draft-ietf-hpke-pq-03): a public key of ML-KEM-768, then an uncompressed point.
constinit const Kem ml_kem_p256_kem{
    .public_bytes = ml_kem_public_bytes + p256_point_bytes,
    .ciphertext_bytes = ml_kem_ciphertext_bytes + p256_point_bytes,
    .is_available = has_ml_kem,
    .public_key_of = nullptr,
    .is_canonical =
        [](std::span<const std::byte> public_key) {
          return is_ml_kem_key(public_key.first(ml_kem_public_bytes)) &&
                 p256_point(public_key.subspan(ml_kem_public_bytes)).has_value();
        },
    .encapsulate = [](std::span<const std::byte> public_key) -> std::optional<Encapsulation> {
      if (!ml_kem_p256_kem.is_canonical(public_key)) return std::nullopt;
      const std::span<const std::byte> point = public_key.subspan(ml_kem_public_bytes);
      std::optional<Encapsulation> made = ml_kem_encapsulate(public_key.first(ml_kem_public_bytes),
                                                             random_secret(ml_kem_random_bytes).bytes());
      const Encapsulation exchange = exchange_p256(point);
      made->shared =
          combine_with_ml_kem(made->shared, exchange.shared, exchange.ciphertext, point, ml_kem_p256_label);
      append(made->ciphertext, exchange.ciphertext);
      return made;
    },
    .is_ciphertext =
        [](std::span<const std::byte> ciphertext) {
          return p256_kem.is_ciphertext(ciphertext.subspan(ml_kem_ciphertext_bytes));
        },
    .decapsulate = nullptr,
};

}  // namespace gpuaes
