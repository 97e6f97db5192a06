// The narrow waist: what a format asks of a lane. A job is complete in itself, so any lane may do any job
// in any order, and formats and lanes never meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/ciphers.hpp"
#include "cipher/ctr.hpp"

namespace gpuaes {

// What is to be done with the bytes of a job.
enum class Operation {
  ctr,  // out = in XOR keystream of CTR mode (NIST SP 800-38A, section 6.5); encryption and decryption alike
};

struct Job {
  Operation operation = Operation::ctr;
  const CipherKey* key = nullptr;  // belongs to the session, which outlives every lane
  CounterBlock counter{};          // the counter block of the first 16 bytes
  std::span<const std::byte> in;   // any length, also none
  std::span<std::byte> out;        // as long as `in`; the same memory, or apart from it
};

}  // namespace gpuaes
