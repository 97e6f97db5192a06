#include "cipher/modes/last_segment.hpp"

#include <span>
#include <vector>

#include "base/error.hpp"
#include "cipher/modes/chacha20_poly1305.hpp"
#include "cipher/modes/gcm.hpp"
#include "cipher/modes/mgm_cpu.hpp"
#include "cipher/modes/segments.hpp"
#include "keys/kdf.hpp"
#include "keys/secret.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t block_bytes = 16;  // of all MACs

// What `mac` makes of each prefix of the ciphertext, from the empty one to the one that lacks a byte.
template <class Mac>
std::vector<Tag> tags_of_prefixes(const Mac& mac, std::span<const std::byte> aad,
                                  std::span<const std::byte> ciphertext) {
  std::vector<Tag> tags(ciphertext.size());
  typename Mac::Sum blocks{}, all{};
  mac.add(blocks, aad);
  for (std::size_t size = 0; size < tags.size(); ++size) {
    const std::size_t rest = size % block_bytes;
    if (rest == 0 && size > 0) mac.add(blocks, ciphertext.subspan(size - block_bytes, block_bytes));
    all = blocks;
    mac.add(all, ciphertext.subspan(size - rest, rest));
    tags[size] = mac.finish(all, aad.size(), size);
  }
  for (auto* const sum : {&blocks, &all}) wipe(std::as_writable_bytes(std::span(sum, 1)));
  return tags;
}

std::vector<Tag> tags_of_prefixes(const Job& job, const Nonce& nonce, std::span<const std::byte> ciphertext) {
  const std::span<const std::byte> key = job.key->bytes.bytes();
  switch (info(job.key->cipher).family) {
    case Family::aes: {
      aes::RoundKeys keys = aes::expand_key(key);
      const GcmMac mac(keys, first_counter(nonce));
      wipe(std::as_writable_bytes(std::span(&keys, 1)));
      return tags_of_prefixes(mac, job.aad, ciphertext);
    }
    case Family::chacha20:
      return tags_of_prefixes(Poly1305Mac(key, nonce), job.aad, ciphertext);
    case Family::kuznyechik: {
      const MgmMac mac(key, nonce, (job.aad.size() + ciphertext.size()) / block_bytes + 2);
      std::vector<Tag> tags = tags_of_prefixes(mac, job.aad, ciphertext);
      mac.encrypt(tags);
      return tags;
    }
  }
  return {};  // nothing is found for a family without a case
}

}  // namespace

std::optional<std::size_t> find_last_segment(const Job& job, std::size_t index) {
  const auto segment = segment_to_open(job, index);
  const Nonce nonce = segment_nonce(job.base_nonce, job.first_segment + index, job.rules, true);
  std::vector<Tag> tags = tags_of_prefixes(job, nonce, segment.ciphertext());
  std::optional<std::size_t> found;
  for (std::size_t size = 0; size < tags.size() && !found; ++size)
    if (is_equal(std::as_bytes(std::span(tags[size])), segment.sealed.subspan(size, tag_bytes)))
      found = size + tag_bytes;
  wipe(std::as_writable_bytes(std::span(tags)));  // they would authenticate forged segments
  return found;
}

}  // namespace gpuaes
