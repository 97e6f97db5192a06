#include "cipher/modes/last_segment.hpp"

#include <span>

#include "cipher/aes/block.hpp"
#include "cipher/kuznyechik/cpu.hpp"
#include "cipher/modes/carryless.hpp"
#include "cipher/modes/gcm.hpp"
#include "cipher/modes/mgm.hpp"
#include "cipher/modes/segments.hpp"
#include "keys/kdf.hpp"
#include "keys/secret.hpp"

namespace gpuaes {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t block_bytes = sizeof(Tag);

// As secret as a key: with a correct tag, any text can be forged.
struct SecretTags {
  explicit SecretTags(std::size_t count)
      : memory(count * block_bytes), of(reinterpret_cast<Tag*>(memory.bytes().data()), count) {}

  Secret memory;
  std::span<Tag> of;
};

constexpr std::size_t count_blocks(std::size_t bytes) {
  return (bytes + block_bytes - 1) / block_bytes;
}

ghash::Element load(Bytes block) {
  return ghash::load_bytes(reinterpret_cast<const std::uint8_t*>(block.data()),
                           static_cast<unsigned>(block.size()));
}

// The last block of a prefix of `text`, which may be incomplete; empty if the prefix is.
Bytes last_block(Bytes text, std::size_t size) {
  const std::size_t at = size == 0 ? 0 : (size - 1) / block_bytes * block_bytes;
  return text.subspan(at, size - at);
}

// These compute the tags of all proper prefixes of a text: tags[i] is that of its first i bytes. What the
// whole blocks contribute is computed once.

void make_gcm_tags(const Job& job, const Nonce& nonce, Bytes text, std::span<Tag> tags) {
  aes::RoundKeys keys = aes::expand_key(job.key->bytes.bytes());
  ghash::Multiplier h(hash_key(keys));
  aes::Block mask = aes::encrypt(keys, aes::load_block(load_counter(first_counter(nonce))));
  const auto hash = [&h](const ghash::Element& sum, Bytes block) {
    return multiply(add(sum, load(block)), h);
  };
  ghash::Element whole{};
  for (std::size_t at = 0; at < job.aad.size(); at += block_bytes)
    whole = hash(whole, job.aad.subspan(at, std::min(block_bytes, job.aad.size() - at)));
  for (std::size_t size = 0; size < tags.size(); ++size) {
    const Bytes last = last_block(text, size);
    ghash::Element sum = last.empty() ? whole : hash(whole, last);
    if (last.size() == block_bytes) whole = sum;
    sum = multiply(add(sum, ghash::Lengths{job.aad.size(), size}.last_block()), h);
    ghash::store_bytes(add(sum, ghash::load(mask.words)), tags[size].data());
  }
  wipe(std::as_writable_bytes(std::span(&keys, 1)));
  wipe(std::as_writable_bytes(std::span(&h, 1)));
  wipe(std::as_writable_bytes(std::span(&mask, 1)));
}

void make_mgm_tags(const Job& job, const Nonce& nonce, Bytes text, std::span<Tag> tags) {
  const KuznyechikCpu cipher(job.key->bytes.bytes());
  const std::size_t aad_blocks = count_blocks(job.aad.size());
  SecretTags first(1), factors(aad_blocks + count_blocks(text.size()) + 1);
  first.of[0] = mgm::factor_start(nonce);
  cipher.encrypt(first.of);
  for (std::size_t i = 0; i < factors.of.size(); ++i)
    factors.of[i] = store_counter(mgm::next_factor(load_counter(first.of[0]), i));
  cipher.encrypt(factors.of);
  mgm::Product whole{};
  add_products(factors.of.first(aad_blocks), job.aad, whole);
  for (std::size_t size = 0; size < tags.size(); ++size) {
    const Bytes last = last_block(text, size);
    const std::size_t end = aad_blocks + count_blocks(size);
    mgm::Product sum = whole;
    if (!last.empty()) add_products(factors.of.subspan(end - 1, 1), last, sum);
    if (last.size() == block_bytes) whole = sum;
    const kuznyechik::Block lengths = mgm::lengths(job.aad.size(), size);
    add_products(factors.of.subspan(end, 1), std::as_bytes(std::span(lengths)), sum);
    ghash::store_bytes(mgm::reduce(sum), tags[size].data());
  }
  cipher.encrypt(tags);
}

void make_tags(const Job& job, const Nonce& nonce, Bytes text, std::span<Tag> tags) {
  switch (info(job.key->cipher).family) {
    case Family::aes:
      return make_gcm_tags(job, nonce, text, tags);
    case Family::kuznyechik:
      return make_mgm_tags(job, nonce, text, tags);
  }
  refuse_cipher(job.key->cipher);
}

}  // namespace

std::optional<std::size_t> find_last_segment(const Job& job, std::size_t index) {
  const auto segment = segment_to_open(job, index);
  SecretTags tags(segment.plain.size());
  make_tags(job, segment.nonce, segment.ciphertext(), tags.of);
  for (std::size_t size = 0; size < tags.of.size(); ++size)
    if (is_equal(std::as_bytes(std::span(tags.of[size])), segment.sealed.subspan(size, tag_bytes)))
      return size + tag_bytes;
  return std::nullopt;
}

}  // namespace gpuaes
