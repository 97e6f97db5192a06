#include "keys/p256.hpp"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>

#include <algorithm>
#include <memory>

#include "base/libcrypto.hpp"

namespace gpuaes {
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
  OPENSSL_free(encoded);
  return point;
}

}  // namespace

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

}  // namespace gpuaes
