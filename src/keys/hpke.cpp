#include "keys/hpke.hpp"

#include <vector>

#include "base/bytes.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t key_bytes = 32, nonce_bytes = 12;

void append_number(std::vector<std::byte>& bytes, std::size_t number) {
  bytes.resize(bytes.size() + 2);
  store_big_endian(number, std::span(bytes).last(2));
}

// LabeledExtract and LabeledExpand of section 4, with the suite of this file and a KEM.
class LabeledKdf {
 public:
  explicit LabeledKdf(std::uint16_t kem) {
    constexpr std::uint16_t hkdf_sha256_id = 1, chacha20_poly1305_id = 3;
    append(suite_, bytes_of("HPKE"));
    for (const std::uint16_t id : {kem, hkdf_sha256_id, chacha20_poly1305_id}) append_number(suite_, id);
  }

  Secret extract(std::span<const std::byte> salt, std::string_view label, std::string_view input) const {
    std::vector<std::byte> labeled = with_label(label);
    append(labeled, bytes_of(input));
    return hkdf_extract_sha256(salt, labeled);
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

HpkeContext hpke_key_schedule(std::uint16_t kem, const Secret& shared, std::string_view info) {
  const LabeledKdf kdf(kem);
  std::vector<std::byte> context(1);  // mode_base
  append(context, kdf.extract({}, "psk_id_hash", "").bytes());
  append(context, kdf.extract({}, "info_hash", info).bytes());
  const Secret secret = kdf.extract(shared.bytes(), "secret", "");
  return {kdf.expand(secret, "key", context, key_bytes),
          kdf.expand(secret, "base_nonce", context, nonce_bytes)};
}

}  // namespace gpuaes
