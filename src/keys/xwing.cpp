#include "keys/xwing.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/libcrypto.hpp"

namespace gpuaes {
namespace {

// XWingLabel of the draft, section 5.3.
constexpr std::string_view label = R"(\.//^\)";

struct PrivateKeys {
  Secret ml_kem_seed, x25519;
};

// expandDecapsulationKey of the draft, section 5.2, up to the derivation of the ML-KEM key.
PrivateKeys expand(const Secret& private_key) {
  Secret bytes(ml_kem_seed_bytes + x25519_bytes);
  check_call(EVP_DigestFinalXOF(digest_of(EVP_shake256(), {private_key.bytes()}).get(),
                                octets(bytes.bytes().data()), bytes.size()) == 1,
             "EVP_DigestFinalXOF");
  return {secret_of(bytes.bytes().first(ml_kem_seed_bytes)), secret_of(bytes.bytes().last(x25519_bytes))};
}

// The X25519 key at the end of a public key or a ciphertext.
PublicKey last_point_of(std::span<const std::byte> bytes) {
  return point_of(bytes.last(x25519_bytes));
}

}  // namespace

PublicBytes xwing_public_key(const Secret& private_key) {
  const PrivateKeys keys = expand(private_key);
  PublicBytes bytes = ml_kem_public_key(keys.ml_kem_seed.bytes());
  append(bytes, public_key_of(keys.x25519));
  return bytes;
}

bool is_xwing_key(std::span<const std::byte> public_key) {
  return is_ml_kem_key(public_key.first(ml_kem_public_bytes)) && is_canonical(last_point_of(public_key));
}

std::optional<Encapsulation> xwing_encapsulate(std::span<const std::byte> public_key, const Secret& random) {
  const PublicKey recipient = last_point_of(public_key);
  const Secret ephemeral = secret_of(random.bytes().last(x25519_bytes));
  if (!is_canonical(recipient)) return std::nullopt;
  const std::optional<Secret> shared = shared_secret(ephemeral, recipient);
  std::optional<Encapsulation> made =
      ml_kem_encapsulate(public_key.first(ml_kem_public_bytes), random.bytes().first(ml_kem_random_bytes));
  if (!shared || !made) return std::nullopt;
  const PublicKey ephemeral_public = public_key_of(ephemeral);
  made->shared = combine_with_ml_kem(made->shared, *shared, ephemeral_public, recipient, label);
  append(made->ciphertext, ephemeral_public);
  return made;
}

std::optional<Secret> xwing_decapsulate(const Secret& private_key, std::span<const std::byte> ciphertext) {
  const PrivateKeys keys = expand(private_key);
  const PublicKey ephemeral = last_point_of(ciphertext);
  const std::optional<Secret> shared = shared_secret(keys.x25519, ephemeral);
  if (!shared) return std::nullopt;
  const Secret ml_kem =
      ml_kem_decapsulate(keys.ml_kem_seed.bytes(), ciphertext.first(ml_kem_ciphertext_bytes));
  return combine_with_ml_kem(ml_kem, *shared, ephemeral, public_key_of(keys.x25519), label);
}

}  // namespace gpuaes
