// AES-GCM (NIST SP 800-38D, section 7) with one key, a block at a time: the reference implementation. It
// takes any block as the first counter block J0, which callers make from their nonce (section 7.1, step 2),
// and makes 128-bit tags. Like aes.hpp, encryption makes secret-dependent memory accesses; tags do not.
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

// inc32 (section 6.2): increments the last 32 bits, which wrap, and leaves the other bits unchanged.
constexpr CounterBlock increment(CounterBlock block) {
  for (std::size_t i = 16; i-- > 12;)
    if (++block[i] != 0) break;
  return block;
}

// H (section 7.1, step 1): the encrypted zero block. As secret as the key. Computed without tables, because
// lanes use it.
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

class Gcm {
 public:
  explicit Gcm(std::span<const std::byte> key) : keys_(aes::expand_key(key)) {}  // 16, 24 or 32 bytes
  ~Gcm() { wipe(std::as_writable_bytes(std::span(&keys_, 1))); }
  Gcm(const Gcm&) = delete;
  Gcm& operator=(const Gcm&) = delete;

  // Encrypts or decrypts. `out` has the length of `in`; they are the same memory or do not overlap.
  void crypt(const CounterBlock& j0, std::span<const std::byte> in, std::span<std::byte> out) const {
    CounterBlock counter = j0, keystream{};
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (i % 16 == 0) keystream = encrypt(counter = increment(counter));
      out[i] = in[i] ^ std::byte{keystream[i % 16]};
    }
  }

  Tag tag(const CounterBlock& j0, std::span<const std::byte> aad,
          std::span<const std::byte> ciphertext) const {
    const GcmMac mac = this->mac(j0);
    GcmMac::Sum sum{};
    mac.add(sum, aad);
    mac.add(sum, ciphertext);
    return mac.finish(sum, aad.size(), ciphertext.size());
  }

  GcmMac mac(const CounterBlock& j0) const { return {keys_, j0}; }

  // `ciphertext` has the length of `plain`, and `tag_out` has 16 bytes.
  void seal(const CounterBlock& j0, std::span<const std::byte> aad, std::span<const std::byte> plain,
            std::span<std::byte> ciphertext, std::span<std::byte> tag_out) const {
    crypt(j0, plain, ciphertext);
    const Tag made = tag(j0, aad, ciphertext);
    for (std::size_t i = 0; i < made.size(); ++i) tag_out[i] = std::byte{made[i]};
  }

  // Returns false if the tag is wrong, and then leaves `plain` unchanged. Compares tags in constant time.
  [[nodiscard]] bool open(const CounterBlock& j0, std::span<const std::byte> aad,
                          std::span<const std::byte> ciphertext, std::span<const std::byte> tag_in,
                          std::span<std::byte> plain) const {
    const Tag made = tag(j0, aad, ciphertext);
    std::byte differences{0};
    for (std::size_t i = 0; i < made.size(); ++i) differences |= tag_in[i] ^ std::byte{made[i]};
    if (differences != std::byte{0}) return false;
    crypt(j0, ciphertext, plain);
    return true;
  }

 private:
  CounterBlock encrypt(CounterBlock block) const {
    aes::encrypt_block(keys_, block.data(), block.data());
    return block;
  }

  aes::RoundKeys keys_;
};

}  // namespace gpuaes
