// AES-GCM (NIST SP 800-38D, nonces of 96 bits, tags of 128) by libcrypto, with one key. No span may be longer
// than 1 GiB.
#pragma once

#include <cstddef>
#include <span>

#include "base/libcrypto.hpp"
#include "cipher/job.hpp"

namespace gpuaes {

// The key schedule is made once, and wiped by libcrypto with the object. One thread uses it. LaneError when
// libcrypto fails.
class EvpGcm {
 public:
  enum class Use { seal, open };

  // `cipher` is an AES, and `key` is as long as its keys. LaneError otherwise.
  EvpGcm(Cipher cipher, std::span<const std::byte> key, Use use);

  // nonce, tag: 12 and 16 bytes. ciphertext: as long as plain, the same memory or apart from it.
  void seal(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> plain,
            std::span<std::byte> ciphertext, std::span<std::byte> tag);

  // False where the tag is wrong; nothing of `plain` may be used then.
  [[nodiscard]] bool open(const Nonce& nonce, std::span<const std::byte> aad,
                          std::span<const std::byte> ciphertext, std::span<const std::byte> tag,
                          std::span<std::byte> plain);

 private:
  CipherContext context_;
};

}  // namespace gpuaes
