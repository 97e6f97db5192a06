// The tags of ChaCha20-Poly1305 (RFC 8439, section 2.8).
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

// A block of keystream, wiped on destruction. Words are little-endian, as on every supported host.
class ChaCha20Block {
 public:
  ChaCha20Block(std::span<const std::byte> key, const Nonce& nonce, std::uint32_t counter) {
    std::uint32_t key_words[chacha20::key_words], nonce_words[chacha20::nonce_words];
    std::memcpy(key_words, key.data(), sizeof key_words);
    std::memcpy(nonce_words, nonce.bytes.data(), sizeof nonce_words);
    block_ = chacha20::block(key_words, counter, nonce_words);
    wipe(std::as_writable_bytes(std::span(key_words)));
  }
  ~ChaCha20Block() { wipe(std::as_writable_bytes(std::span(block_.words))); }
  ChaCha20Block(const ChaCha20Block&) = delete;
  ChaCha20Block& operator=(const ChaCha20Block&) = delete;

  const std::uint32_t* words() const { return block_.words; }

 private:
  chacha20::Block block_;
};

// The tags of messages with one key and one nonce.
class Poly1305Mac {
 public:
  using Sum = poly1305::Number;  // of the blocks so far

  // The first block of keystream has the one-time key, r and s.
  Poly1305Mac(std::span<const std::byte> key, const Nonce& nonce) {
    const ChaCha20Block first(key, nonce, 0);
    r_ = poly1305::load_clamped(first.words());
    std::copy_n(first.words() + 4, 4, s_);
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

}  // namespace gpuaes
