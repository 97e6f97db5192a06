// AEADs with one key, a block at a time, with which faster code is compared.
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
#include "cipher/modes/gcm.hpp"
#include "cipher/modes/mgm.hpp"
#include "support/aes_reference.hpp"
#include "support/kuznyechik_reference.hpp"

namespace gpuaes {

// inc32 (section 6.2): increments the last 32 bits, which wrap, and leaves the other bits unchanged.
constexpr CounterBlock increment(CounterBlock block) {
  for (std::size_t i = 16; i-- > 12;)
    if (++block[i] != 0) break;
  return block;
}

// J0 of GCM for a 96-bit nonce.
constexpr CounterBlock first_counter(const Nonce& nonce) {
  CounterBlock block = nonce.bytes;
  block[15] = 1;
  return block;
}

// Calls `add` with the address and size of each block; the last may be short.
void for_each_block(std::span<const std::byte> bytes, auto add) {
  for (std::size_t at = 0; at < bytes.size(); at += 16)
    add(reinterpret_cast<const std::uint8_t*>(bytes.data()) + at,
        static_cast<unsigned>(std::min<std::size_t>(16, bytes.size() - at)));
}

// What the AEADs below have in common. `Mode` has crypt() and tag(), which begin with a nonce, or with the
// first counter block.
template <class Mode>
class ReferenceAead {
 public:
  // `ciphertext` has the length of `plain`, and `tag_out` has 16 bytes.
  void seal(const auto& start, std::span<const std::byte> aad, std::span<const std::byte> plain,
            std::span<std::byte> ciphertext, std::span<std::byte> tag_out) const {
    mode().crypt(start, plain, ciphertext);
    const Tag made = mode().tag(start, aad, ciphertext);
    std::ranges::copy(std::as_bytes(std::span(made)), tag_out.begin());
  }

  // Returns false if the tag is wrong, and then leaves `plain` unchanged.
  [[nodiscard]] bool open(const auto& start, std::span<const std::byte> aad,
                          std::span<const std::byte> ciphertext, std::span<const std::byte> tag_in,
                          std::span<std::byte> plain) const {
    const Tag made = mode().tag(start, aad, ciphertext);
    if (!std::ranges::equal(std::as_bytes(std::span(made)), tag_in)) return false;
    mode().crypt(start, ciphertext, plain);
    return true;
  }

 private:
  const Mode& mode() const { return static_cast<const Mode&>(*this); }
};

// AES-GCM (NIST SP 800-38D, section 7). Takes any block as the first counter block J0.
class Gcm : public ReferenceAead<Gcm> {
 public:
  explicit Gcm(std::span<const std::byte> key) : keys_(aes::expand_key(key)) {}  // 16, 24 or 32 bytes

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
    const ghash::Multiplier h(hash_key(keys_));
    ghash::Element sum{};
    for (const auto bytes : {aad, ciphertext})
      for_each_block(bytes, [&](const std::uint8_t* block, unsigned size) {
        sum = multiply(ghash::add(sum, ghash::load_bytes(block, size)), h);
      });
    sum = multiply(ghash::add(sum, ghash::Lengths{aad.size(), ciphertext.size()}.last_block()), h);
    Tag made;
    ghash::store_bytes(ghash::add(sum, ghash::load_bytes(encrypt(j0).data())), made.data());
    return made;
  }

 private:
  CounterBlock encrypt(CounterBlock block) const {
    aes::encrypt_block(keys_, block.data(), block.data());
    return block;
  }

  aes::RoundKeys keys_;
};

namespace mgm {

// MGM with Kuznyechik (RFC 9058). The members follow the steps in sections 4.1 and 4.2.
class Mgm : public ReferenceAead<Mgm> {
 public:
  explicit Mgm(std::span<const std::byte> key) : keys_(kuznyechik::expand_key(key)) {}  // 32 bytes

  // Encrypts or decrypts. `out` has the length of `in`; they are the same memory or do not overlap.
  void crypt(const Nonce& nonce, std::span<const std::byte> in, std::span<std::byte> out) const {
    Counter counter = load_counter(encrypt(counter_start(nonce)));
    Block keystream{};
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (i % 16 == 0) {
        keystream = encrypt(store_counter(counter));
        counter = next_counter(counter);
      }
      out[i] = in[i] ^ std::byte{keystream[i % 16]};
    }
  }

  Tag tag(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> ciphertext) const {
    Counter factor = load_counter(encrypt(factor_start(nonce)));
    Product sum{};
    add(aad, factor, sum);
    add(ciphertext, factor, sum);
    const Block both = lengths(aad.size(), ciphertext.size());
    add(std::as_bytes(std::span(both)), factor, sum);
    Block last;
    ghash::store_bytes(reduce(sum), last.data());
    return encrypt(last);
  }

 private:
  // Adds to `sum` the products of these bytes, padded with zeros to whole blocks, and the factors from
  // counter `factor` on. Advances `factor`.
  void add(std::span<const std::byte> bytes, Counter& factor, Product& sum) const {
    for_each_block(bytes, [&](const std::uint8_t* block, unsigned size) {
      const Block h = encrypt(store_counter(factor));
      add_product(ghash::load_bytes(h.data()), ghash::load_bytes(block, size), sum);
      factor = next_factor(factor);
    });
  }

  Block encrypt(const Block& block) const { return kuznyechik::encrypt(keys_, block); }

  kuznyechik::RoundKeys keys_;
};

}  // namespace mgm

// ChaCha20-Poly1305 (RFC 8439, section 2.8).
class ChaCha20Poly1305 : public ReferenceAead<ChaCha20Poly1305> {
 public:
  explicit ChaCha20Poly1305(std::span<const std::byte> key) : key_(key) {}  // 32 bytes

  // Block 0 is the key of Poly1305.
  void crypt(const Nonce& nonce, std::span<const std::byte> in, std::span<std::byte> out) const {
    for (std::size_t at = 0; at < in.size(); at += chacha20::block_bytes) {
      const chacha20::Block stream =
          keystream(nonce, static_cast<std::uint32_t>(at / chacha20::block_bytes + 1));
      const auto bytes = std::as_bytes(std::span(stream.words));
      const std::size_t size = std::min(in.size() - at, bytes.size());
      for (std::size_t i = 0; i < size; ++i) out[at + i] = in[at + i] ^ bytes[i];
    }
  }

  Tag tag(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> ciphertext) const {
    const chacha20::Block one_time_key = keystream(nonce, 0);
    const poly1305::Number r = poly1305::load_clamped(one_time_key.words);
    const std::array<std::uint64_t, 2> sizes{aad.size(), ciphertext.size()};
    const std::span<const std::byte> lengths = std::as_bytes(std::span(sizes));
    poly1305::Number sum{};
    for (const auto bytes : {aad, ciphertext, lengths})
      for_each_block(bytes, [&](const std::uint8_t* block, unsigned size) {
        std::uint32_t words[4]{};
        std::memcpy(words, block, size);
        sum = multiply(poly1305::add(sum, poly1305::load(words, true)), r);
      });
    Tag made;
    std::uint32_t words[4];
    poly1305::finish(sum, one_time_key.words + 4, words);
    std::memcpy(made.data(), words, sizeof words);
    return made;
  }

 private:
  chacha20::Block keystream(const Nonce& nonce, std::uint32_t counter) const {
    std::uint32_t key_words[chacha20::key_words], nonce_words[chacha20::nonce_words];
    std::memcpy(key_words, key_.data(), sizeof key_words);
    std::memcpy(nonce_words, nonce.bytes.data(), sizeof nonce_words);
    return chacha20::block(key_words, counter, nonce_words);
  }

  std::span<const std::byte> key_;
};

}  // namespace gpuaes
