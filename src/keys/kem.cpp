#include "keys/kem.hpp"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>

#include "base/bytes.hpp"
#include "base/libcrypto.hpp"
#include "base/public.hpp"
#include "keys/kdf.hpp"
#include "keys/ml_kem.hpp"
#include "keys/x25519.hpp"

namespace gpuaes {

// HPKE ------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t hpke_key_bytes = 32;

void append_number(std::vector<std::byte>& bytes, std::size_t number) {
  bytes.resize(bytes.size() + 2);
  store_big_endian(number, std::span(bytes).last(2));
}

// LabeledExtract and LabeledExpand of section 4, for a suite.
class LabeledKdf {
 public:
  LabeledKdf(std::string_view suite, std::initializer_list<std::uint16_t> ids) {
    append(suite_, bytes_of(suite));
    for (const std::uint16_t id : ids) append_number(suite_, id);
  }

  Secret extract(std::span<const std::byte> salt, std::string_view label,
                 std::span<const std::byte> input) const {
    const std::vector<std::byte> begin = with_label(label);
    Secret labeled(begin.size() + input.size());
    std::ranges::copy(begin, labeled.bytes().begin());
    std::ranges::copy(input, labeled.bytes().subspan(begin.size()).begin());
    return hkdf_extract_sha256(salt, labeled.bytes());
  }

  Secret expand(const Secret& key, std::string_view label, std::span<const std::byte> info,
                std::size_t size) const {
    std::vector<std::byte> labeled;
    append_number(labeled, size);
    append(labeled, with_label(label));
    append(labeled, info);
    return hkdf_expand_sha256(key.bytes(), labeled, size);
  }

 private:
  std::vector<std::byte> with_label(std::string_view label) const {
    std::vector<std::byte> labeled;
    append(labeled, bytes_of("HPKE-v1"));
    append(labeled, suite_);
    append(labeled, bytes_of(label));
    return labeled;
  }

  std::vector<std::byte> suite_;
};

}  // namespace

Secret dhkem_shared_secret(std::uint16_t kem, const Secret& exchanged, std::span<const std::byte> ephemeral,
                           std::span<const std::byte> recipient) {
  const LabeledKdf kdf("KEM", {kem});
  return kdf.expand(kdf.extract({}, "eae_prk", exchanged.bytes()), "shared_secret",
                    concatenate(ephemeral, recipient), hpke_key_bytes);
}

HpkeContext hpke_key_schedule(std::uint16_t kem, const Secret& shared, std::string_view info) {
  constexpr std::uint16_t hkdf_sha256_id = 1, chacha20_poly1305_id = 3;
  const LabeledKdf kdf("HPKE", {kem, hkdf_sha256_id, chacha20_poly1305_id});
  std::vector<std::byte> context(1);  // mode_base
  append(context, kdf.extract({}, "psk_id_hash", {}).bytes());
  append(context, kdf.extract({}, "info_hash", bytes_of(info)).bytes());
  const Secret secret = kdf.extract(shared.bytes(), "secret", {});
  HpkeContext made{kdf.expand(secret, "key", context, hpke_key_bytes), {}};
  const Secret nonce = kdf.expand(secret, "base_nonce", context, made.nonce.size());
  std::ranges::copy(nonce.bytes(), made.nonce.begin());
  return made;
}

// X25519 ----------------------------------------------------------------------------------------------

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

// X-Wing ----------------------------------------------------------------------------------------------

namespace {

// Of ML-KEM-768 and `second`.
template <const Kem& second>
bool is_hybrid_ciphertext(std::span<const std::byte> ciphertext) {
  return second.is_ciphertext(ciphertext.subspan(ml_kem_ciphertext_bytes));
}

// XWingLabel of the draft, section 5.3.
constexpr std::string_view xwing_label = R"(\.//^\)";

struct PrivateKeys {
  Secret ml_kem_seed, x25519;
};

// expandDecapsulationKey of the draft, section 5.2, up to the derivation of the ML-KEM key.
PrivateKeys expand_xwing(const Secret& private_key) {
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

PublicBytes xwing_public_key(const Secret& private_key) {
  const PrivateKeys keys = expand_xwing(private_key);
  PublicBytes bytes = ml_kem_public_key(keys.ml_kem_seed.bytes());
  append(bytes, public_key_of(keys.x25519));
  return bytes;
}

// None if the X25519 part of the ciphertext has low order, which the draft allows, but encapsulation never
// produces.
std::optional<Secret> xwing_decapsulate(const Secret& private_key, std::span<const std::byte> ciphertext) {
  const PrivateKeys keys = expand_xwing(private_key);
  const PublicKey ephemeral = last_point_of(ciphertext);
  const std::optional<Secret> shared = shared_secret(keys.x25519, ephemeral);
  if (!shared) return std::nullopt;
  const Secret ml_kem =
      ml_kem_decapsulate(keys.ml_kem_seed.bytes(), ciphertext.first(ml_kem_ciphertext_bytes));
  return combine_with_ml_kem(ml_kem, *shared, ephemeral, public_key_of(keys.x25519), xwing_label);
}

}  // namespace

std::optional<Encapsulation> xwing_encapsulate(std::span<const std::byte> public_key, const Secret& random) {
  const PublicKey recipient = last_point_of(public_key);
  const Secret ephemeral = secret_of(random.bytes().last(x25519_bytes));
  if (!is_canonical(recipient)) return std::nullopt;
  const std::optional<Secret> shared = shared_secret(ephemeral, recipient);
  std::optional<Encapsulation> made =
      ml_kem_encapsulate(public_key.first(ml_kem_public_bytes), random.bytes().first(ml_kem_random_bytes));
  if (!shared || !made) return std::nullopt;
  const PublicKey ephemeral_public = public_key_of(ephemeral);
  made->shared = combine_with_ml_kem(made->shared, *shared, ephemeral_public, recipient, xwing_label);
  append(made->ciphertext, ephemeral_public);
  return made;
}

constinit const Kem xwing_kem{
    .public_bytes = ml_kem_public_bytes + x25519_bytes,
    .ciphertext_bytes = ml_kem_ciphertext_bytes + x25519_bytes,
    .hpke_id = 0x647a,
    .is_available = has_ml_kem,
    .public_key_of = xwing_public_key,
    .is_canonical =
        [](std::span<const std::byte> public_key) {
          return is_ml_kem_key(public_key.first(ml_kem_public_bytes)) &&
                 is_canonical(last_point_of(public_key));
        },
    .encapsulate =
        [](std::span<const std::byte> public_key) {
          return xwing_encapsulate(public_key, random_secret(ml_kem_random_bytes + x25519_bytes));
        },
    .is_ciphertext = is_hybrid_ciphertext<x25519_kem>,
    .decapsulate = xwing_decapsulate,
};

// P-256, alone and with ML-KEM ------------------------------------------------------------------------

namespace {

constexpr std::size_t coordinate_bytes = 32;

using Group = std::unique_ptr<EC_GROUP, FreeWith<EC_GROUP_free>>;
using Point = std::unique_ptr<EC_POINT, FreeWith<EC_POINT_free>>;

// A public key on the curve of `own`.
EvpKey load_public(const EvpKey& own, std::span<const std::byte> point) {
  EvpKey key(EVP_PKEY_new());
  check_call(key != nullptr && EVP_PKEY_copy_parameters(key.get(), own.get()) == 1,
             "EVP_PKEY_copy_parameters");
  check_call(EVP_PKEY_set1_encoded_public_key(key.get(), octets(point.data()), point.size()) == 1,
             "EVP_PKEY_set1_encoded_public_key");
  return key;
}

PublicBytes public_point(const EvpKey& key) {
  unsigned char* encoded = nullptr;
  const std::size_t size = EVP_PKEY_get1_encoded_public_key(key.get(), &encoded);
  check_call(size == p256_point_bytes, "EVP_PKEY_get1_encoded_public_key");
  const auto* const bytes = reinterpret_cast<const std::byte*>(encoded);
  PublicBytes point(bytes, bytes + size);
  as_public(point);  // it is sent
  OPENSSL_free(encoded);
  return point;
}

// The uncompressed form of a point in one of the two forms (SEC 1, section 2.3). None if it is neither, or
// not on the curve.
std::optional<PublicBytes> p256_point(std::span<const std::byte> encoded) {
  const Group group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
  check_call(group != nullptr, "EC_GROUP_new_by_curve_name");
  const Point point(EC_POINT_new(group.get()));
  check_call(point != nullptr, "EC_POINT_new");
  const bool on_curve =
      EC_POINT_oct2point(group.get(), point.get(), octets(encoded.data()), encoded.size(), nullptr) == 1;
  PublicBytes bytes(p256_point_bytes);
  if (!on_curve || EC_POINT_point2oct(group.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED,
                                      octets(bytes.data()), bytes.size(), nullptr) != bytes.size()) {
    ERR_clear_error();
    return std::nullopt;
  }
  // libcrypto also accepts the hybrid form.
  if (encoded.size() == p256_point_bytes && !std::ranges::equal(encoded, bytes)) return std::nullopt;
  return bytes;
}

// Diffie-Hellman (SP 800-186): the public key of a fresh key pair, uncompressed, and the x-coordinate that it
// shares with an uncompressed point.
Encapsulation exchange_p256(std::span<const std::byte> point) {
  const EvpKey own(EVP_EC_gen("P-256"));
  check_call(own != nullptr, "EVP_EC_gen");
  const EvpKey peer = load_public(own, point);
  const EvpKeyContext context(EVP_PKEY_CTX_new(own.get(), nullptr));
  check_call(context != nullptr && EVP_PKEY_derive_init(context.get()) == 1, "EVP_PKEY_derive_init");
  check_call(EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1, "EVP_PKEY_derive_set_peer");
  Encapsulation made{public_point(own), Secret(coordinate_bytes)};
  std::size_t size = made.shared.size();
  check_call(EVP_PKEY_derive(context.get(), octets(made.shared.bytes().data()), &size) == 1 &&
                 size == made.shared.size(),
             "EVP_PKEY_derive");
  return made;
}

}  // namespace

// DHKEM(P-256, HKDF-SHA256) of HPKE (RFC 9180, section 4.1). Recipients are compressed points.
constinit const Kem p256_kem{
    .public_bytes = p256_compressed_bytes,
    .ciphertext_bytes = p256_point_bytes,
    .hpke_id = 0x0010,
    .is_available = [] { return true; },
    .public_key_of = nullptr,
    .is_canonical = [](std::span<const std::byte> public_key) { return p256_point(public_key).has_value(); },
    .encapsulate = [](std::span<const std::byte> public_key) -> std::optional<Encapsulation> {
      const std::optional<PublicBytes> recipient = p256_point(public_key);
      if (!recipient) return std::nullopt;
      Encapsulation made = exchange_p256(*recipient);
      made.shared = dhkem_shared_secret(p256_kem.hpke_id, made.shared, made.ciphertext, *recipient);
      return made;
    },
    .is_ciphertext = [](std::span<const std::byte> point) { return p256_point(point).has_value(); },
    .decapsulate = nullptr,
};

// MLKEM768-P256 (draft-ietf-hpke-pq-03): a public key of ML-KEM-768, then an uncompressed point.
constinit const Kem ml_kem_p256_kem{
    .public_bytes = ml_kem_public_bytes + p256_point_bytes,
    .ciphertext_bytes = ml_kem_ciphertext_bytes + p256_point_bytes,
    .hpke_id = 0x0050,
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
          combine_with_ml_kem(made->shared, exchange.shared, exchange.ciphertext, point, "MLKEM768-P256");
      append(made->ciphertext, exchange.ciphertext);
      return made;
    },
    .is_ciphertext = is_hybrid_ciphertext<p256_kem>,
    .decapsulate = nullptr,
};

}  // namespace gpuaes
