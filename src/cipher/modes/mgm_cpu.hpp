// MGM (RFC 9058) with Kuznyechik for CPU lanes, with one key. No branch or memory address depends on key or
// data.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "cipher/job.hpp"
#include "cipher/kuznyechik/cpu.hpp"
#include "cipher/modes/mgm.hpp"
#include "cipher/modes/segments.hpp"

namespace gpuaes {

// Adds to `sum` the products of the blocks of `bytes`, the last one padded with zeros, and their factors,
// with PCLMULQDQ if the CPU supports it. There are as many factors as blocks.
void add_products(std::span<const kuznyechik::Block> factors, std::span<const std::byte> bytes,
                  mgm::Product& sum);

// The same without special instructions.
void add_products_portable(std::span<const kuznyechik::Block> factors, std::span<const std::byte> bytes,
                           mgm::Product& sum);

class MgmCpu {
 public:
  // The maximum number of segments processed together. Apart from its text, a segment has only 3 blocks and
  // those of the associated data, too few to fill vectors. Many segments share them.
  static constexpr std::size_t max_segments = 64;

  // As for KuznyechikCpu.
  explicit MgmCpu(std::span<const std::byte> key,
                  const kuznyechik::SimdCode& code = kuznyechik::find_simd_code())
      : cipher_(key, code) {}

  // Seals up to max_segments segments. `aad` is that of each segment and has at most max_aad_bytes. A
  // segment's plaintext and ciphertext are the same memory or do not overlap.
  void seal(std::span<const std::byte> aad,
            std::span<const Segment<std::byte, const std::byte>> segments) const;

  // Returns the index of the first segment whose tag is wrong, if any. Its plaintext and that of later
  // segments must not be used.
  [[nodiscard]] std::optional<std::size_t> open(
      std::span<const std::byte> aad, std::span<const Segment<const std::byte, std::byte>> segments) const;

 private:
  // The span of a text that is the ciphertext.
  enum class Ciphertext { in, out };
  struct Text {
    Nonce nonce;
    std::span<const std::byte> in;
    std::span<std::byte> out;
  };
  using Tags = std::array<Tag, max_segments>;
  Tags crypt(std::span<const std::byte> aad, std::span<const Text> texts, Ciphertext ciphertext) const;
  void crypt_text(const Text& text, Counter counter, Counter factor, Ciphertext ciphertext,
                  mgm::Product& sum) const;

  KuznyechikCpu cipher_;
};

}  // namespace gpuaes
