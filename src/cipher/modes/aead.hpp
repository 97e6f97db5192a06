// Seals and opens the segments of jobs on CPUs, by libcrypto or by our own code, as the cipher's row says.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/libcrypto.hpp"
#include "cipher/job.hpp"

namespace gpuaes {

// An AEAD with one key. Not thread-safe. Throws LaneError if libcrypto fails.
class Aead {
 public:
  virtual ~Aead() = default;
  virtual void seal(const Job& job) = 0;

  // Returns the index of the first segment whose tag is wrong, if any. The output of that segment and of
  // later ones must not be used.
  [[nodiscard]] virtual std::optional<std::size_t> open(const Job& job) = 0;
};

// The AEAD for the key of a job, to seal or to open as the job does. LaneError if the job's nonce does not
// have the length that the cipher requires.
std::unique_ptr<Aead> make_aead(const Job& job);

// Opens one segment of a job as the last of its message, into memory of its length. False if the tag is
// wrong.
bool open_as_last(const Job& job, std::size_t index, std::span<std::byte> plain);

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
