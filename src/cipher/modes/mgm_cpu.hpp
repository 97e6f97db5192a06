// MGM (RFC 9058) with Kuznyechik as CPU lanes do it, with one key. No address and no branch of its own
// depends on key or data; what the cipher's depend on says cipher/kuznyechik/cpu.hpp.
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

class MgmCpu {
 public:
  // Segments that are done together. Each has 3 blocks, and those of the associated data, apart from its
  // text, too few for fast code: 6 % of the time of one by itself with AVX2. Those of all share vectors.
  static constexpr std::size_t max_segments = 16;

  // As KuznyechikCpu.
  explicit MgmCpu(std::span<const std::byte> key,
                  const kuznyechik::SimdCodes& codes = kuznyechik::find_simd_codes())
      : cipher_(key, codes) {}

  // At most max_segments of them; plaintext and ciphertext of each may be in the same memory, or apart. aad,
  // of each: at most max_aad_bytes.
  void seal(std::span<const std::byte> aad,
            std::span<const Segment<std::byte, const std::byte>> segments) const;

  // The index of the first one whose tag is wrong, if one is: nothing of its plaintext may be used then, nor
  // of those behind it.
  [[nodiscard]] std::optional<std::size_t> open(
      std::span<const std::byte> aad, std::span<const Segment<const std::byte, std::byte>> segments) const;

 private:
  // Which of both spans of a text is the ciphertext.
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
