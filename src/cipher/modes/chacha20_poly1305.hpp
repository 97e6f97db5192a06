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
    std::ranges::copy(tag(nonce, aad, ciphertext), tag_out.begin());
  }

  // Returns false if the tag is wrong, and then leaves `plain` unchanged. Compares tags in constant time.
  [[nodiscard]] bool open(const Nonce& nonce, std::span<const std::byte> aad,
                          std::span<const std::byte> ciphertext, std::span<const std::byte> given_tag,
                          std::span<std::byte> plain) const {
    if (!is_equal(tag(nonce, aad, ciphertext), given_tag)) return false;
    crypt(nonce, ciphertext, plain);
    return true;
  }

 private:
  using Words = std::array<std::uint32_t, 4>;

  // A block of keystream as bytes; the caller wipes it. Words are little-endian, as on every supported host.
  std::array<std::byte, chacha20::block_bytes> keystream(const Nonce& nonce, std::uint32_t counter) const {
    std::uint32_t words[chacha20::nonce_words];
    std::memcpy(words, nonce.bytes.data(), sizeof words);
    chacha20::Block block = chacha20::block(key_.data(), counter, words);
    std::array<std::byte, chacha20::block_bytes> bytes;
    std::memcpy(bytes.data(), block.words, bytes.size());
    wipe(std::as_writable_bytes(std::span(block.words)));
    return bytes;
  }

  // Block 0 is the key of Poly1305.
  void crypt(const Nonce& nonce, std::span<const std::byte> in, std::span<std::byte> out) const {
    for (std::size_t at = 0; at < in.size(); at += chacha20::block_bytes) {
      auto stream = keystream(nonce, static_cast<std::uint32_t>(at / chacha20::block_bytes + 1));
      const std::size_t size = std::min(in.size() - at, stream.size());
      for (std::size_t i = 0; i < size; ++i) out[at + i] = in[at + i] ^ stream[i];
      wipe(stream);
    }
  }

  // The MAC of aad and ciphertext, each filled up with zeros to whole blocks, and their lengths.
  std::array<std::byte, tag_bytes> tag(const Nonce& nonce, std::span<const std::byte> aad,
                                       std::span<const std::byte> ciphertext) const {
    auto one_time_key = keystream(nonce, 0);
    Words r_words, s;
    std::memcpy(r_words.data(), one_time_key.data(), sizeof r_words);
    std::memcpy(s.data(), one_time_key.data() + sizeof r_words, sizeof s);
    poly1305::Number r = poly1305::load_clamped(r_words.data()), sum{};
    add_blocks(sum, r, aad);
    add_blocks(sum, r, ciphertext);
    const std::array<std::uint64_t, 2> sizes{aad.size(), ciphertext.size()};
    add_blocks(sum, r, std::as_bytes(std::span(sizes)));
    Words words;
    poly1305::finish(sum, s.data(), words.data());
    std::array<std::byte, tag_bytes> made;
    std::memcpy(made.data(), words.data(), sizeof words);
    wipe(one_time_key);
    for (Words* each : {&r_words, &s}) wipe(std::as_writable_bytes(std::span(*each)));
    for (poly1305::Number* each : {&r, &sum}) wipe(std::as_writable_bytes(std::span(each->limbs)));
    return made;
  }

  static void add_blocks(poly1305::Number& sum, const poly1305::Number& r, std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Words)) {
      Words words{};
      std::memcpy(words.data(), bytes.data() + at, std::min(bytes.size() - at, sizeof words));
      sum = multiply(add(sum, poly1305::load(words.data(), true)), r);
    }
  }

  std::array<std::uint32_t, chacha20::key_words> key_;
};

}  // namespace gpuaes
