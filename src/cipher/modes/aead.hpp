// AEADs of libcrypto.
#pragma once

#include <cstddef>
#include <span>

#include "base/libcrypto.hpp"
#include "cipher/job.hpp"

namespace gpuaes {

// An AEAD of libcrypto with one key, a 96-bit nonce and a 128-bit tag. Spans are limited to 1 GiB. The key
// schedule is computed once; libcrypto wipes it when the object is destroyed. Not thread-safe. Throws
// LaneError if libcrypto fails.
class EvpAead {
 public:
  enum class Use { seal, open };

  // Throws LaneError unless the row of `cipher` names an AEAD of libcrypto, and `key` has the length of its
  // keys.
  EvpAead(Cipher cipher, std::span<const std::byte> key, Use use);

  // `nonce` has 12 bytes, and `tag` 16. `ciphertext` has the length of `plain`; they are the same memory or
  // do not overlap.
  void seal(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> plain,
            std::span<std::byte> ciphertext, std::span<std::byte> tag);

  // Returns false if the tag is wrong; `plain` must then not be used.
  [[nodiscard]] bool open(const Nonce& nonce, std::span<const std::byte> aad,
                          std::span<const std::byte> ciphertext, std::span<const std::byte> tag,
                          std::span<std::byte> plain);

 private:
  CipherContext context_;
};

}  // namespace gpuaes
