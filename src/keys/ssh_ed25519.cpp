#include "keys/ssh_ed25519.hpp"

#include <openssl/bn.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes.hpp"
#include "base/libcrypto.hpp"
#include "keys/kdf.hpp"
#include "keys/ssh_wire.hpp"

namespace gpuaes {
namespace {

// The conversion, which has no secrets -----------------------------------------------------------------

using Number = std::unique_ptr<BIGNUM, FreeWith<BN_free>>;
using Scratch = std::unique_ptr<BN_CTX, FreeWith<BN_CTX_free>>;

// An element of the field, from its encoding.
Number element(const PublicKey& bytes) {
  Number number(BN_lebin2bn(octets(bytes.data()), x25519_bytes, nullptr));
  check_call(number != nullptr, "BN_lebin2bn");
  return number;
}

Number small(unsigned value) {
  Number number(BN_new());
  check_call(number != nullptr && BN_set_word(number.get(), value) == 1, "BN_set_word");
  return number;
}

Number field_prime() {
  Number prime = small(1);
  check_call(BN_lshift(prime.get(), prime.get(), 255) == 1 && BN_sub_word(prime.get(), 19) == 1, "BN_lshift");
  return prime;
}

// The u-coordinate for the y-coordinate of a point (RFC 7748, section 4.1): u = (1 + y) / (1 - y). The point
// is on the curve if u^3 + 486662 u^2 + u is a square, which is zero only for the point of order 2.
std::optional<PublicKey> u_of(const PublicKey& y_bytes) {
  const Scratch scratch(BN_CTX_new());
  check_call(scratch != nullptr, "BN_CTX_new");
  const Number prime_number = field_prime(), one = small(1), coefficient = small(486662),
               y = element(y_bytes), divisor = small(0), u = small(0), square = small(0);
  BIGNUM *const value = square.get(), *const prime = prime_number.get();
  BN_CTX* const context = scratch.get();
  check_call(BN_mod_sub(divisor.get(), one.get(), y.get(), prime, context) == 1, "BN_mod_sub");
  if (BN_is_zero(divisor.get())) return std::nullopt;  // the point of order 1
  check_call(BN_mod_inverse(divisor.get(), divisor.get(), prime, context) != nullptr &&
                 BN_mod_add(u.get(), one.get(), y.get(), prime, context) == 1 &&
                 BN_mod_mul(u.get(), u.get(), divisor.get(), prime, context) == 1 &&
                 BN_mod_add(value, u.get(), coefficient.get(), prime, context) == 1 &&
                 BN_mod_mul(value, value, u.get(), prime, context) == 1 &&
                 BN_mod_add(value, value, one.get(), prime, context) == 1 &&
                 BN_mod_mul(value, value, u.get(), prime, context) == 1,
             "BN_mod_mul");
  const int symbol = BN_kronecker(value, prime, context);
  check_call(symbol != -2, "BN_kronecker");
  if (symbol != 1) return std::nullopt;
  PublicKey bytes;
  check_call(BN_bn2lebinpad(u.get(), octets(bytes.data()), x25519_bytes) == x25519_bytes, "BN_bn2lebinpad");
  return bytes;
}

// Keys -------------------------------------------------------------------------------------------------

PublicBytes ssh_key_of(const PublicKey& point) {
  PublicBytes ssh_key;
  append_ssh_string(ssh_key, bytes_of(ssh_ed25519_type));
  append_ssh_string(ssh_key, point);
  return ssh_key;
}

PublicBytes public_key_of_seed(const Secret& seed) {
  const EvpKey key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, octets(seed.bytes().data()), seed.size()));
  check_call(key != nullptr, "EVP_PKEY_new_raw_private_key");
  PublicKey point;
  std::size_t size = point.size();
  check_call(EVP_PKEY_get_raw_public_key(key.get(), octets(point.data()), &size) == 1 && size == point.size(),
             "EVP_PKEY_get_raw_public_key");
  return ssh_key_of(point);
}

// RFC 8032, section 5.1.5. X25519 clears and sets the same bits of its private keys.
Secret scalar_of(const Secret& seed) {
  Secret hash(64);
  check_call(EVP_Digest(seed.bytes().data(), seed.size(), octets(hash.bytes().data()), nullptr, EVP_sha512(),
                        nullptr) == 1,
             "EVP_Digest");
  hash.shrink(x25519_bytes);
  return hash;
}

// The point multiplied by a factor that depends only on the public key. age multiplies the shared secret by
// it, which gives the same result, but here what is multiplied is public.
std::optional<PublicKey> tweak(std::span<const std::byte> ssh_key, const PublicKey& point) {
  const Secret factor = hkdf_sha256({}, ssh_key, bytes_of(ssh_ed25519_label), x25519_bytes);
  const std::optional<Secret> product = shared_secret(factor, point);
  return product ? std::optional(point_of(product->bytes())) : std::nullopt;
}

std::optional<Secret> shared_with(const Secret& private_key, std::span<const std::byte> ssh_key,
                                  const PublicKey& point) {
  const std::optional<PublicKey> tweaked = tweak(ssh_key, point);
  return tweaked ? shared_secret(private_key, *tweaked) : std::nullopt;
}

}  // namespace

std::optional<PublicKey> x25519_key_of(std::span<const std::byte> ssh_key) {
  constexpr std::byte sign{0x80};  // of x, the highest bit; u does not depend on it
  SshReader reader(ssh_key);
  const bool is_type = as_text(reader.string()) == ssh_ed25519_type;
  const std::span<const std::byte> bytes = reader.string();
  if (!is_type || bytes.size() != x25519_bytes || !reader.is_complete()) return std::nullopt;
  PublicKey y = point_of(bytes);
  y.back() &= ~sign;
  return is_canonical(y) ? u_of(y) : std::nullopt;
}

constinit const Kem ssh_ed25519_kem{
    .public_bytes = 2 * ssh_length_bytes + std::string_view(ssh_ed25519_type).size() + x25519_bytes,
    .ciphertext_bytes = x25519_bytes,
    .is_available = [] { return true; },
    .public_key_of = public_key_of_seed,
    .is_canonical = [](std::span<const std::byte> ssh_key) { return x25519_key_of(ssh_key).has_value(); },
    .encapsulate = [](std::span<const std::byte> ssh_key) -> std::optional<Encapsulation> {
      const std::optional<PublicKey> point = x25519_key_of(ssh_key);
      if (!point) return std::nullopt;
      const Secret ephemeral = make_private_key();
      std::optional<Secret> shared = shared_with(ephemeral, ssh_key, *point);
      if (!shared) return std::nullopt;
      return Encapsulation{x25519_kem.public_key_of(ephemeral), std::move(*shared)};
    },
    .is_ciphertext = [](std::span<const std::byte> share) { return x25519_kem.is_ciphertext(share); },
    .decapsulate =
        [](const Secret& seed, std::span<const std::byte> ciphertext) {
          return shared_with(scalar_of(seed), public_key_of_seed(seed), point_of(ciphertext));
        },
};

}  // namespace gpuaes
