// The AEAD ChaCha20-Poly1305 (RFC 8439, section 2.8) with one key, a block at a time: the reference
// implementation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cipher/chacha20/chacha20.hpp"
#include "cipher/chacha20/poly1305.hpp"
#include "cipher/job.hpp"
#include "keys/kdf.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// The tags of messages with one one-time key, r and s.
class Poly1305Mac {
 public:
  using Sum = poly1305::Number;  // of the blocks so far

  explicit Poly1305Mac(const std::uint32_t one_time_key[8]) : r_(poly1305::load_clamped(one_time_key)) {
    std::copy_n(one_time_key + 4, 4, s_);
  }
  ~Poly1305Mac() {
    wipe(std::as_writable_bytes(std::span(r_.limbs)));
    wipe(std::as_writable_bytes(std::span(s_)));
  }
  Poly1305Mac(const Poly1305Mac&) = delete;
  Poly1305Mac& operator=(const Poly1305Mac&) = delete;

  // Adds bytes, padded with zeros to whole blocks: first the associated data, then the ciphertext.
  void add(Sum& sum, std::span<const std::byte> bytes) const {
    for (std::size_t at = 0; at < bytes.size(); at += tag_bytes) {
      std::uint32_t words[4]{};
      std::memcpy(words, bytes.data() + at, std::min(bytes.size() - at, sizeof words));
      sum = multiply(poly1305::add(sum, poly1305::load(words, true)), r_);
    }
  }

  Tag finish(Sum sum, std::uint64_t aad_bytes, std::uint64_t ciphertext_bytes) const {
    const std::array<std::uint64_t, 2> sizes{aad_bytes, ciphertext_bytes};
    add(sum, std::as_bytes(std::span(sizes)));
    std::uint32_t words[4];
    poly1305::finish(sum, s_, words);
    wipe(std::as_writable_bytes(std::span(sum.limbs)));
    Tag tag;
    std::memcpy(tag.data(), words, sizeof words);
    return tag;
  }

 private:
  poly1305::Number r_;
  std::uint32_t s_[4];
};

class ChaCha20Poly1305 {
 public:
  explicit ChaCha20Poly1305(std::span<const std::byte> key) {  // 32 bytes
    std::memcpy(key_.data(), key.data(), sizeof key_);
  }
  ~ChaCha20Poly1305() { wipe(std::as_writable_bytes(std::span(key_))); }
  ChaCha20Poly1305(const ChaCha20Poly1305&) = delete;
  ChaCha20Poly1305& operator=(const ChaCha20Poly1305&) = delete;

  // `nonce` has 12 bytes, and `tag_out` 16. `ciphertext` has the length of `plain`; they are the same memory
  // or do not overlap.
  void seal(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> plain,
            std::span<std::byte> ciphertext, std::span<std::byte> tag_out) const {
    crypt(nonce, plain, ciphertext);
    const Tag made = tag(nonce, aad, ciphertext);
    std::ranges::copy(std::as_bytes(std::span(made)), tag_out.begin());
  }

  // Returns false if the tag is wrong, and then leaves `plain` unchanged. Compares tags in constant time.
  [[nodiscard]] bool open(const Nonce& nonce, std::span<const std::byte> aad,
                          std::span<const std::byte> ciphertext, std::span<const std::byte> given_tag,
                          std::span<std::byte> plain) const {
    const Tag made = tag(nonce, aad, ciphertext);
    if (!is_equal(std::as_bytes(std::span(made)), given_tag)) return false;
    crypt(nonce, ciphertext, plain);
    return true;
  }

  Poly1305Mac mac(const Nonce& nonce) const {
    const Keystream first = keystream(nonce, 0);
    return Poly1305Mac(first.block.words);
  }

 private:
  // A block of keystream, wiped on destruction. Words are little-endian, as on every supported host.
  struct Keystream {
    ~Keystream() { wipe(std::as_writable_bytes(std::span(block.words))); }
    chacha20::Block block;
  };
  Keystream keystream(const Nonce& nonce, std::uint32_t counter) const {
    std::uint32_t words[chacha20::nonce_words];
    std::memcpy(words, nonce.bytes.data(), sizeof words);
    return {chacha20::block(key_.data(), counter, words)};
  }

  // Block 0 is the key of Poly1305.
  void crypt(const Nonce& nonce, std::span<const std::byte> in, std::span<std::byte> out) const {
    for (std::size_t at = 0; at < in.size(); at += chacha20::block_bytes) {
      const Keystream stream = keystream(nonce, static_cast<std::uint32_t>(at / chacha20::block_bytes + 1));
      const auto bytes = std::as_bytes(std::span(stream.block.words));
      const std::size_t size = std::min(in.size() - at, bytes.size());
      for (std::size_t i = 0; i < size; ++i) out[at + i] = in[at + i] ^ bytes[i];
    }
  }

  Tag tag(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> ciphertext) const {
    const Poly1305Mac mac = this->mac(nonce);
    Poly1305Mac::Sum sum{};
    mac.add(sum, aad);
    mac.add(sum, ciphertext);
    const Tag made = mac.finish(sum, aad.size(), ciphertext.size());
    wipe(std::as_writable_bytes(std::span(sum.limbs)));
    return made;
  }

  std::array<std::uint32_t, chacha20::key_words> key_;
};

}  // namespace gpuaes
