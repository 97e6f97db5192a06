// Ciphers on CPUs, by libcrypto or by our own code, as the cipher's row says.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "cipher/job.hpp"

namespace gpuaes {

// One operation with one key. Not thread-safe. Throws LaneError if a library fails.
class CpuCipher {
 public:
  virtual ~CpuCipher() = default;

  // Does a job with this key and operation. Returns the index of the first segment whose tag is wrong, if
  // any. The output of that segment and of later ones must not be used.
  [[nodiscard]] virtual std::optional<std::size_t> run(const Job& job) = 0;
};

// For jobs with the key and the operation of this one. libcrypto uses the best instructions of the CPU.
// LaneError if the cipher does not support the operation, or the job's nonce does not have the length that
// the cipher requires.
std::unique_ptr<CpuCipher> make_cpu_cipher(const Job& job);

// Opens one segment of a job as the last of its message, into memory of its length. False if the tag is
// wrong.
bool open_as_last(const Job& job, std::size_t index, std::span<std::byte> plain);

}  // namespace gpuaes
