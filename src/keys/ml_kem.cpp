#include "keys/ml_kem.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <memory>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/libcrypto.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t hybrid_shared_bytes = 32;

using Mechanism = std::unique_ptr<EVP_KEM, FreeWith<EVP_KEM_free>>;

// Names from the pages EVP_PKEY-ML-KEM(7) and EVP_KEM-ML-KEM(7) of OpenSSL 3.5. Older headers lack constants
// for some of them.
constexpr char algorithm[] = "ML-KEM-768", seed_parameter[] = "seed", random_parameter[] = "ikme";

void require_ml_kem() {
  if (!has_ml_kem()) throw IoError(lacks_ml_kem(), lacks_ml_kem_hint);
}

EvpKey load_seed(std::span<const std::byte> seed) {
  require_ml_kem();
  const EvpKeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, algorithm, nullptr));
  check_call(context != nullptr, "EVP_PKEY_CTX_new_from_name");
  check_call(EVP_PKEY_fromdata_init(context.get()) == 1, "EVP_PKEY_fromdata_init");
  OSSL_PARAM parameters[] = {octet_parameter(seed_parameter, seed), OSSL_PARAM_construct_end()};
  EVP_PKEY* key = nullptr;
  check_call(EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters) == 1, "EVP_PKEY_fromdata");
  return EvpKey(key);
}

// Null if the key fails the check. libcrypto checks its length and its coefficients when it decodes it.
EvpKey load_public(std::span<const std::byte> bytes) {
  require_ml_kem();
  EvpKey key(EVP_PKEY_new_raw_public_key_ex(nullptr, algorithm, nullptr, octets(bytes.data()), bytes.size()));
  if (key == nullptr) ERR_clear_error();
  return key;
}

EvpKeyContext context_of(const EvpKey& key) {
  EvpKeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  check_call(context != nullptr, "EVP_PKEY_CTX_new_from_pkey");
  return context;
}

}  // namespace

bool has_ml_kem() {
  const Mechanism found(EVP_KEM_fetch(nullptr, algorithm, nullptr));
  if (found == nullptr) ERR_clear_error();
  return found != nullptr;
}

std::string lacks_ml_kem() {
  return fmt::format("a post-quantum recipient or identity needs OpenSSL 3.5 or newer; this system has {}",
                     OpenSSL_version(OPENSSL_VERSION_STRING));
}

PublicBytes ml_kem_public_key(std::span<const std::byte> seed) {
  const EvpKey key = load_seed(seed);
  PublicBytes bytes(ml_kem_public_bytes);
  std::size_t size = bytes.size();
  check_call(EVP_PKEY_get_raw_public_key(key.get(), octets(bytes.data()), &size) == 1 && size == bytes.size(),
             "EVP_PKEY_get_raw_public_key");
  return bytes;
}

bool is_ml_kem_key(std::span<const std::byte> public_key) {
  return load_public(public_key) != nullptr;
}

// The random bytes come from the caller, so that all of them have the same source and tests can supply them.
std::optional<Encapsulation> ml_kem_encapsulate(std::span<const std::byte> public_key,
                                                std::span<const std::byte> random) {
  const EvpKey key = load_public(public_key);
  if (key == nullptr) return std::nullopt;
  const EvpKeyContext context = context_of(key);
  const OSSL_PARAM parameters[] = {octet_parameter(random_parameter, random), OSSL_PARAM_construct_end()};
  check_call(EVP_PKEY_encapsulate_init(context.get(), parameters) == 1, "EVP_PKEY_encapsulate_init");
  Encapsulation made{PublicBytes(ml_kem_ciphertext_bytes), Secret(ml_kem_shared_bytes)};
  std::size_t ciphertext_size = made.ciphertext.size(), shared_size = made.shared.size();
  check_call(EVP_PKEY_encapsulate(context.get(), octets(made.ciphertext.data()), &ciphertext_size,
                                  octets(made.shared.bytes().data()), &shared_size) == 1 &&
                 ciphertext_size == made.ciphertext.size() && shared_size == made.shared.size(),
             "EVP_PKEY_encapsulate");
  return made;
}

Secret ml_kem_decapsulate(std::span<const std::byte> seed, std::span<const std::byte> ciphertext) {
  const EvpKey key = load_seed(seed);
  const EvpKeyContext context = context_of(key);
  check_call(EVP_PKEY_decapsulate_init(context.get(), nullptr) == 1, "EVP_PKEY_decapsulate_init");
  Secret shared(ml_kem_shared_bytes);
  std::size_t size = shared.size();
  check_call(EVP_PKEY_decapsulate(context.get(), octets(shared.bytes().data()), &size,
                                  octets(ciphertext.data()), ciphertext.size()) == 1 &&
                 size == shared.size(),
             "EVP_PKEY_decapsulate");
  return shared;
}

Secret combine_with_ml_kem(const Secret& ml_kem, const Secret& exchanged,
                           std::span<const std::byte> ephemeral, std::span<const std::byte> recipient,
                           std::string_view label) {
  Secret shared(hybrid_shared_bytes);
  const DigestContext digest =
      digest_of(EVP_sha3_256(), {ml_kem.bytes(), exchanged.bytes(), ephemeral, recipient, bytes_of(label)});
  check_call(EVP_DigestFinal_ex(digest.get(), octets(shared.bytes().data()), nullptr) == 1,
             "EVP_DigestFinal_ex");
  return shared;
}

}  // namespace gpuaes
