// Seals and opens the segments of jobs on CPUs, by libcrypto or by our own code, as the cipher's row says.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

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

}  // namespace gpuaes
