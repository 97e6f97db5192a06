// HPKE and recipients with P-256, against RFC 9180 and draft-ietf-hpke-pq-03. libcrypto has the private keys,
// which the program never does.
#include "keys/kem.hpp"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/libcrypto.hpp"
#include "keys/kdf.hpp"
#include "keys/ml_kem.hpp"
#include "keys/recipient.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view hybrid_vectors[] = {
#include "vectors/mlkem768_p256.inc"
};

Bytes bytes_in(const Secret& secret) {
  return {secret.bytes().begin(), secret.bytes().end()};
}

EvpKey key_pair(std::span<const std::byte> private_key, std::span<const std::byte> public_key) {
  using Number = std::unique_ptr<BIGNUM, FreeWith<BN_clear_free>>;
  const Number number(BN_bin2bn(octets(private_key.data()), static_cast<int>(private_key.size()), nullptr));
  const std::unique_ptr<OSSL_PARAM_BLD, FreeWith<OSSL_PARAM_BLD_free>> builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0);
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get());
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, public_key.data(),
                                   public_key.size());
  const std::unique_ptr<OSSL_PARAM, FreeWith<OSSL_PARAM_free>> parameters(
      OSSL_PARAM_BLD_to_param(builder.get()));
  const EvpKeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  REQUIRE(EVP_PKEY_fromdata_init(context.get()) == 1);
  REQUIRE(EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters.get()) == 1);
  return EvpKey(key);
}

Secret exchange_with(const EvpKey& own, std::span<const std::byte> point) {
  const EvpKey peer(EVP_PKEY_new());
  REQUIRE(EVP_PKEY_copy_parameters(peer.get(), own.get()) == 1);
  REQUIRE(EVP_PKEY_set1_encoded_public_key(peer.get(), octets(point.data()), point.size()) == 1);
  const EvpKeyContext context(EVP_PKEY_CTX_new(own.get(), nullptr));
  Secret shared(32);
  std::size_t size = shared.size();
  REQUIRE(EVP_PKEY_derive_init(context.get()) == 1);
  REQUIRE(EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1);
  REQUIRE(EVP_PKEY_derive(context.get(), octets(shared.bytes().data()), &size) == 1);
  return shared;
}

PublicBytes compressed(std::span<const std::byte> point) {
  PublicBytes bytes(point.begin(), point.begin() + p256_compressed_bytes);
  bytes.front() = std::byte{2} | (point.back() & std::byte{1});
  return bytes;
}

// RFC 9180, A.3.1.
struct {
  Bytes private_key = from_hex("f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2");
  Bytes public_key = from_hex(
      "04fe8c19ce0905191ebc298a9245792531f26f0cece2460639e8bc39cb7f706a826a779b4cf969b8a0e539c7f62fb3d30ad6aa"
      "8f"
      "80e30f1d128aafd68a2ce72ea0");
  Bytes ephemeral = from_hex(
      "04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac98536d7b61a1af4b78e5b7f951c0900be863c"
      "40"
      "3ce65c9bfcb9382657222d18c4");
  Bytes shared = from_hex("c0d26aeab536609a572b07695d933b589dcf363ff9d93c93adea537aeabb8cb8");
} const rfc;

}  // namespace

// With the shared secret of DHKEM(X25519, HKDF-SHA256).
TEST_CASE("the key schedule of HPKE matches RFC 9180, A.2.1") {
  const Bytes shared_bytes = from_hex("0bbe78490412b4bbea4812666f7916932b828bba79942424abb65244930d69a7");
  const Secret shared = secret_of(shared_bytes);
  const HpkeContext context = hpke_key_schedule(0x0020, shared, "Ode on a Grecian Urn");
  CHECK(bytes_in(context.key) ==
        from_hex("ad2744de8e17f4ebba575b3f5f5a8fa1f69c2a07f6e7500bc60ca6e3e3ec1c91"));
  CHECK(Bytes(context.nonce.begin(), context.nonce.end()) == from_hex("5c4d98150661b848853b547f"));
}

TEST_CASE("the shared secret of DHKEM with P-256 matches RFC 9180, A.3.1") {
  const Secret exchanged = exchange_with(key_pair(rfc.private_key, rfc.public_key), rfc.ephemeral);
  CHECK(bytes_in(dhkem_shared_secret(p256_kem.hpke_id, exchanged, rfc.ephemeral, rfc.public_key)) ==
        rfc.shared);
}

TEST_CASE("a secret that is encapsulated for a P-256 recipient is the one that its private key yields") {
  const EvpKey own = key_pair(rfc.private_key, rfc.public_key);
  const std::optional<Encapsulation> first = p256_kem.encapsulate(compressed(rfc.public_key));
  const std::optional<Encapsulation> second = p256_kem.encapsulate(compressed(rfc.public_key));
  REQUIRE((first && second));
  CHECK(first->ciphertext.size() == p256_kem.ciphertext_bytes);
  CHECK(first->ciphertext != second->ciphertext);
  const Secret exchanged = exchange_with(own, first->ciphertext);
  CHECK(bytes_in(dhkem_shared_secret(p256_kem.hpke_id, exchanged, first->ciphertext, rfc.public_key)) ==
        bytes_in(first->shared));
}

TEST_CASE("only points on the curve, in one of two forms, are P-256 recipients") {
  CHECK(p256_kem.is_ciphertext(rfc.public_key));
  CHECK(p256_kem.is_canonical(compressed(rfc.public_key)));
  Bytes hybrid_form = rfc.public_key, off_curve = rfc.public_key, infinity(1),
        no_x = compressed(rfc.public_key);
  hybrid_form.front() = std::byte{6} | (rfc.public_key.back() & std::byte{1});
  off_curve.back() ^= std::byte{1};
  std::ranges::fill(std::span(no_x).subspan(1), std::byte{0xff});  // above the prime
  const Bytes zeros(p256_compressed_bytes);
  for (const Bytes& bad : {hybrid_form, off_curve, infinity, no_x, zeros, Bytes()}) {
    CHECK(!p256_kem.is_ciphertext(bad));
    if (bad.size() == p256_kem.public_bytes) CHECK(!p256_kem.encapsulate(bad));
  }
}

TEST_CASE("Wycheproof's points are recipients if they are valid") {
  constexpr std::string_view vectors[] = {
#include "vectors/wycheproof_p256.inc"
  };
  const auto is_recipient = [](const PublicBytes& point) {
    const std::string text = text_of({.kind = KeyKind::p256, .public_key = point});
    return failure_of([&] { parse_recipient(text, "it"); }).empty() &&
           p256_kem.encapsulate(point).has_value();
  };
  std::size_t points = 0, compressed_points = 0;
  for (const std::string_view line : vectors) {
    const std::vector<std::string> words = words_of(line);
    CAPTURE(words.at(0));
    const bool valid = words.at(1) != "invalid";
    const Bytes point = from_hex(words.at(2));
    CHECK(p256_kem.is_ciphertext(point) == valid);
    if (point.size() == p256_compressed_bytes) CHECK(is_recipient(point) == valid);
    if (point.size() == p256_point_bytes && valid) CHECK(is_recipient(compressed(point)));
    points += point.size() == p256_point_bytes;
    compressed_points += point.size() == p256_compressed_bytes;
  }
  CHECK(points == 331);
  CHECK(compressed_points == 8);
}

TEST_CASE("MLKEM768-P256 keys with a part of ML-KEM that is refused are refused", "[optional]") {
  if (!has_ml_kem()) return skip(lacks_ml_kem());
  constexpr std::string_view vectors[] = {
#include "vectors/ml_kem_768.inc"
  };
  std::size_t refused = 0;
  for (const std::string_view line : vectors) {
    const std::vector<std::string> words = words_of(line);
    if (words.at(0) != "refuse") continue;
    const Bytes key = concatenate(from_hex(words.at(3)), rfc.public_key);
    CHECK_FALSE(ml_kem_p256_kem.is_canonical(key));
    CHECK_FALSE(ml_kem_p256_kem.encapsulate(key));
    ++refused;
  }
  CHECK(refused == 6);
}

TEST_CASE("MLKEM768-P256 matches draft-ietf-hpke-pq-03", "[optional]") {
  if (!has_ml_kem()) return skip(lacks_ml_kem());
  for (const std::string_view line : hybrid_vectors) {
    const std::vector<std::string> words = words_of(line);
    REQUIRE(words.size() == 4);
    const std::array fields{from_hex(words[0]), from_hex(words[1]), from_hex(words[2]), from_hex(words[3])};
    const auto& [seed, public_key, ciphertext, shared] = fields;
    // The seed expands to that of ML-KEM and candidates for the private key; the first one is in range.
    Bytes keys(ml_kem_seed_bytes + 32);
    REQUIRE(EVP_DigestFinalXOF(digest_of(EVP_shake256(), {seed}).get(), octets(keys.data()), keys.size()) ==
            1);
    const std::span ml_kem_seed = std::span(keys).first(ml_kem_seed_bytes);
    const std::span point = std::span(public_key).subspan(ml_kem_public_bytes);
    const EvpKey own = key_pair(std::span(keys).subspan(ml_kem_seed_bytes), point);
    CHECK(ml_kem_p256_kem.is_canonical(public_key));
    Bytes too_large = public_key;  // its first coefficient
    std::fill_n(too_large.begin(), 2, std::byte{0xff});
    CHECK_FALSE(ml_kem_p256_kem.is_canonical(too_large));
    const auto shared_by = [&](std::span<const std::byte> encapsulated) {
      const auto ephemeral = encapsulated.subspan(ml_kem_ciphertext_bytes);
      return bytes_in(
          combine_with_ml_kem(ml_kem_decapsulate(ml_kem_seed, encapsulated.first(ml_kem_ciphertext_bytes)),
                              exchange_with(own, ephemeral), ephemeral, point, "MLKEM768-P256"));
    };
    CHECK(shared_by(ciphertext) == shared);
    const std::optional<Encapsulation> made = ml_kem_p256_kem.encapsulate(public_key);
    REQUIRE(made);
    CHECK(made->ciphertext.size() == ml_kem_p256_kem.ciphertext_bytes);
    CHECK(shared_by(made->ciphertext) == bytes_in(made->shared));
    Bytes bad = public_key;
    bad.back() ^= std::byte{1};
    CHECK(!ml_kem_p256_kem.encapsulate(bad));
  }
}

}  // namespace gpuaes
