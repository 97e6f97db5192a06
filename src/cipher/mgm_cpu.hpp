// MGM (RFC 9058) with Kuznyechik as CPU lanes do it, with one key. No address and no branch of its own
// depends on key or data; what the cipher's depend on says kuznyechik_cpu.hpp.
#pragma once

#include <cstddef>
#include <span>

#include "cipher/job.hpp"
#include "cipher/kuznyechik_cpu.hpp"

namespace gpuaes {

class MgmCpu {
 public:
  // As KuznyechikCpu.
  explicit MgmCpu(std::span<const std::byte> key,
                  const kuznyechik::VectorCodes& codes = kuznyechik::find_vector_codes())
      : cipher_(key, codes) {}

  // ciphertext: as long as plain, the same memory or apart from it. tag: 16 bytes. aad: at most
  // most_aad_bytes.
  void seal(const MgmNonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> plain,
            std::span<std::byte> ciphertext, std::span<std::byte> tag) const;

  // False where the tag is wrong; nothing of `plain` may be used then.
  [[nodiscard]] bool open(const MgmNonce& nonce, std::span<const std::byte> aad,
                          std::span<const std::byte> ciphertext, std::span<const std::byte> tag,
                          std::span<std::byte> plain) const;

 private:
  // Which of both spans of crypt() is the ciphertext.
  enum class Ciphertext { in, out };
  Tag crypt(const MgmNonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> in,
            std::span<std::byte> out, Ciphertext ciphertext) const;

  KuznyechikCpu cipher_;
};

}  // namespace gpuaes
