#include "keys/x25519.hpp"

#include <openssl/evp.h>

#include <algorithm>

#include "base/libcrypto.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

EvpKey load_private(const Secret& bytes) {
  EvpKey key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, octets(bytes.bytes().data()), bytes.size()));
  check_call(key != nullptr, "EVP_PKEY_new_raw_private_key");
  return key;
}

}  // namespace

PublicKey point_of(std::span<const std::byte> bytes) {
  PublicKey point;
  std::ranges::copy(bytes, point.begin());
  return point;
}

Secret make_private_key() {
  return random_secret(x25519_bytes);
}

PublicKey public_key_of(const Secret& private_key) {
  const EvpKey key = load_private(private_key);
  PublicKey bytes;
  std::size_t size = bytes.size();
  check_call(EVP_PKEY_get_raw_public_key(key.get(), octets(bytes.data()), &size) == 1 && size == bytes.size(),
             "EVP_PKEY_get_raw_public_key");
  return bytes;
}

bool is_canonical(const PublicKey& key) {
  constexpr std::byte all_ones{0xff}, prime_top{0x7f}, prime_bottom{0xed};  // 2^255 - 19: 7f ff ... ff ed
  if ((key.back() & std::byte{0x80}) != std::byte{0}) return false;
  const bool is_smaller = key.back() != prime_top || std::any_of(key.begin() + 1, key.end() - 1,
                                                                 [](std::byte b) { return b != all_ones; });
  return is_smaller || key.front() < prime_bottom;
}

std::optional<Secret> shared_secret(const Secret& private_key, const PublicKey& public_key) {
  const EvpKey own = load_private(private_key);
  const EvpKey peer(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, octets(public_key.data()), public_key.size()));
  check_call(peer != nullptr, "EVP_PKEY_new_raw_public_key");
  const EvpKeyContext context(EVP_PKEY_CTX_new(own.get(), nullptr));
  check_call(context != nullptr, "EVP_PKEY_CTX_new");
  check_call(EVP_PKEY_derive_init(context.get()) == 1, "EVP_PKEY_derive_init");
  check_call(EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1, "EVP_PKEY_derive_set_peer");
  Secret shared(x25519_bytes);
  std::size_t size = shared.size();
  // This fails only for an all-zero secret. Not every version of libcrypto checks for that, so it is also
  // checked below.
  if (EVP_PKEY_derive(context.get(), octets(shared.bytes().data()), &size) != 1) {
    ERR_clear_error();
    return std::nullopt;
  }
  if (is_equal(shared.bytes(), PublicKey{})) return std::nullopt;
  return shared;
}

bool has_low_order(const PublicKey& public_key) {
  return !shared_secret(make_private_key(), public_key);  // the same for all private keys
}

}  // namespace gpuaes
