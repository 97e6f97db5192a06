// The 128-bit tags of AES-GCM (NIST SP 800-38D, section 7), without tables. J0, the first counter block, is
// made from the nonce (section 7.1, step 2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/block.hpp"
#include "cipher/job.hpp"
#include "cipher/modes/ctr.hpp"
#include "cipher/modes/ghash.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// J0 for a 96-bit nonce.
constexpr CounterBlock first_counter(const Nonce& nonce) {
  CounterBlock block = nonce.bytes;
  block[15] = 1;
  return block;
}

// H (section 7.1, step 1): the encrypted zero block. As secret as the key.
inline ghash::Element hash_key(const aes::RoundKeys& keys) {
  aes::Block h = aes::encrypt(keys, {});
  const ghash::Element element = ghash::load(h.words);
  wipe(std::as_writable_bytes(std::span(h.words)));
  return element;
}

// The tags of messages with one key and one J0 (section 7.1, steps 4 to 6).
class GcmMac {
 public:
  using Sum = ghash::Element;  // of the blocks so far

  GcmMac(const aes::RoundKeys& keys, const CounterBlock& j0)
      : hash_key_(hash_key(keys)),
        mask_(ghash::load(aes::encrypt(keys, aes::load_block(load_counter(j0))).words)) {}
  ~GcmMac() {
    wipe(std::as_writable_bytes(std::span(&hash_key_, 1)));
    wipe(std::as_writable_bytes(std::span(&mask_, 1)));
  }
  GcmMac(const GcmMac&) = delete;
  GcmMac& operator=(const GcmMac&) = delete;

  // Adds bytes, padded with zeros to whole blocks: first the associated data, then the ciphertext.
  void add(Sum& sum, std::span<const std::byte> bytes) const {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(16, bytes.size()))) {
      const auto size = static_cast<unsigned>(std::min<std::size_t>(16, bytes.size()));
      const auto* const block = reinterpret_cast<const std::uint8_t*>(bytes.data());
      sum = multiply(ghash::add(sum, ghash::load_bytes(block, size)), hash_key_);
    }
  }

  Tag finish(const Sum& sum, std::size_t aad_bytes, std::size_t ciphertext_bytes) const {
    const ghash::Lengths lengths{aad_bytes, ciphertext_bytes};
    Tag tag{};
    ghash::store_bytes(ghash::add(multiply(ghash::add(sum, lengths.last_block()), hash_key_), mask_),
                       tag.data());
    return tag;
  }

 private:
  ghash::Multiplier hash_key_;
  ghash::Element mask_;  // the encrypted J0
};

}  // namespace gpuaes
