// The Multilinear Galois Mode (MGM, RFC 9058) with Kuznyechik and 128-bit tags, a block at a time: the
// reference implementation. Lanes use its multiplication, which uses no tables; no branch or memory address
// there depends on key or data.
//
// The field is that of GCM, GF(2)[x] / (x^128 + x^7 + x^2 + x + 1), with a different order of bits: a block
// is a big-endian number whose bit k is the coefficient of x^k. Each block is multiplied by a factor of its
// own (section 4.1), so only the sum of all products must be reduced.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/job.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/carryless_product.hpp"
#include "cipher/modes/ghash.hpp"
#include "keys/secret.hpp"

namespace gpuaes::mgm {

using ghash::Element;
using kuznyechik::Block;

using Product = carryless::Product;  // before reduction

// Adds a b to `sum`.
GPUAES_HD inline void add_product(const Element& a, const Element& b, Product& sum) {
  carryless::Factor(a.words).add_product(b.words, sum);
}

// x^128 = x^7 + x^2 + x + 1, so the upper half is added to the lower one four times, with different shifts.
// Up to 7 bits are shifted past the top of the lower half and reduced again.
GPUAES_HD inline Element reduce(const Product& product) {
  const std::uint32_t* const w = product.words;
  const std::uint32_t again = w[7] >> 31 ^ w[7] >> 30 ^ w[7] >> 25;
  const std::uint32_t above[5] = {0, w[4] ^ again, w[5], w[6], w[7]};
  Element result{};
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t high = above[i + 1], low = above[i];
    result.words[i] =
        w[i] ^ high ^ (high << 1 | low >> 31) ^ (high << 2 | low >> 30) ^ (high << 7 | low >> 25);
  }
  return result;
}

// A nonce has 127 bits. Encrypting it after a 0 bit yields the counter of the first block of keystream, and
// encrypting it after a 1 bit yields the counter of the first factor (section 4.1).
inline constexpr std::uint64_t highest_bit = std::uint64_t{1} << 63;
GPUAES_HD constexpr Counter counter_start(const Counter& nonce) {
  return {nonce.high & ~highest_bit, nonce.low};
}
GPUAES_HD constexpr Counter factor_start(const Counter& nonce) {
  return {nonce.high | highest_bit, nonce.low};
}
constexpr Block counter_start(const Nonce& nonce) {
  return store_counter(counter_start(load_counter(nonce.bytes)));
}
constexpr Block factor_start(const Nonce& nonce) {
  return store_counter(factor_start(load_counter(nonce.bytes)));
}

// incr_r increments the right half of a block, and incr_l the left half, both without carry into the other
// half (section 3).
GPUAES_HD constexpr Counter next_counter(Counter block, std::uint64_t by = 1) {
  return {block.high, block.low + by};
}
GPUAES_HD constexpr Counter next_factor(Counter block, std::uint64_t by = 1) {
  return {block.high + by, block.low};
}

// The last block to be multiplied: both lengths in bits.
constexpr Block lengths(std::size_t aad_bytes, std::size_t ciphertext_bytes) {
  return store_counter({8 * std::uint64_t{aad_bytes}, 8 * std::uint64_t{ciphertext_bytes}});
}

// The members follow the steps in sections 4.1 and 4.2.
class Mgm {
 public:
  explicit Mgm(std::span<const std::byte> key) : keys_(kuznyechik::expand_key(key)) {}  // 32 bytes
  ~Mgm() { wipe(std::as_writable_bytes(std::span(keys_.of))); }
  Mgm(const Mgm&) = delete;
  Mgm& operator=(const Mgm&) = delete;

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

  // `ciphertext` has the length of `plain`, and `tag_out` has 16 bytes.
  void seal(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> plain,
            std::span<std::byte> ciphertext, std::span<std::byte> tag_out) const {
    crypt(nonce, plain, ciphertext);
    const Tag made = tag(nonce, aad, ciphertext);
    std::ranges::copy(std::as_bytes(std::span(made)), tag_out.begin());
  }

  // Returns false if the tag is wrong, and then leaves `plain` unchanged. Compares tags in constant time.
  [[nodiscard]] bool open(const Nonce& nonce, std::span<const std::byte> aad,
                          std::span<const std::byte> ciphertext, std::span<const std::byte> tag_in,
                          std::span<std::byte> plain) const {
    const Tag made = tag(nonce, aad, ciphertext);
    std::byte differences{0};
    for (std::size_t i = 0; i < made.size(); ++i) differences |= tag_in[i] ^ std::byte{made[i]};
    if (differences != std::byte{0}) return false;
    crypt(nonce, ciphertext, plain);
    return true;
  }

 private:
  // Adds to `sum` the products of these bytes, padded with zeros to whole blocks, and the factors from
  // counter `factor` on. Advances `factor`.
  void add(std::span<const std::byte> bytes, Counter& factor, Product& sum) const {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(16, bytes.size()))) {
      const auto size = static_cast<unsigned>(std::min<std::size_t>(16, bytes.size()));
      const auto* const block = reinterpret_cast<const std::uint8_t*>(bytes.data());
      const Block h = encrypt(store_counter(factor));
      add_product(ghash::load_bytes(h.data()), ghash::load_bytes(block, size), sum);
      factor = next_factor(factor);
    }
  }

  Block encrypt(const Block& block) const { return kuznyechik::encrypt(keys_, block); }

  kuznyechik::RoundKeys keys_;
};

}  // namespace gpuaes::mgm
