#include "keys/hpke.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "base/bytes.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t key_bytes = 32;

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
                    concatenate(ephemeral, recipient), key_bytes);
}

HpkeContext hpke_key_schedule(std::uint16_t kem, const Secret& shared, std::string_view info) {
  constexpr std::uint16_t hkdf_sha256_id = 1, chacha20_poly1305_id = 3;
  const LabeledKdf kdf("HPKE", {kem, hkdf_sha256_id, chacha20_poly1305_id});
  std::vector<std::byte> context(1);  // mode_base
  append(context, kdf.extract({}, "psk_id_hash", {}).bytes());
  append(context, kdf.extract({}, "info_hash", bytes_of(info)).bytes());
  const Secret secret = kdf.extract(shared.bytes(), "secret", {});
  HpkeContext made{kdf.expand(secret, "key", context, key_bytes), {}};
  const Secret nonce = kdf.expand(secret, "base_nonce", context, made.nonce.size());
  std::ranges::copy(nonce.bytes(), made.nonce.begin());
  return made;
}

}  // namespace gpuaes
