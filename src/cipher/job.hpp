// The narrow waist: what a format asks of a lane. A job is complete in itself, so any lane may do any job
// in any order, and formats and lanes never meet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/ciphers.hpp"
#include "cipher/modes/ctr.hpp"

namespace gpuaes {

// What is to be done with the bytes of a job.
enum class Operation {
  ctr,   // out = in XOR keystream of CTR mode (NIST SP 800-38A, section 6.5); encryption and decryption alike
  seal,  // authenticated encryption of segment after segment with the cipher's AEAD: each becomes its
         // ciphertext and its tag
  open,  // the inverse: tags are verified
};

// The authenticated unit: so much plaintext, save in the last segment of a stream, which is shorter and may
// be empty; and behind its ciphertext its tag.
inline constexpr std::size_t segment_bytes = 16384;
inline constexpr std::size_t tag_bytes = 16;
inline constexpr std::size_t sealed_segment_bytes = segment_bytes + tag_bytes;

// The longest Job::aad, so that a lane may have room for it beforehand.
inline constexpr std::size_t max_aad_bytes = 1024;

// The nonce of an AEAD: the first `size` bytes, and then zeros.
struct Nonce {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t size = 0;  // info(cipher).nonce_bytes

  friend bool operator==(const Nonce&, const Nonce&) = default;
};
using Tag = std::array<std::uint8_t, tag_bytes>;

struct Job {
  Operation operation = Operation::ctr;
  const CipherKey* key = nullptr;  // belongs to the session, which outlives every lane
  std::span<const std::byte> in;   // any length, also none
  std::span<std::byte> out;  // apart from in; or begins where it does, if it is as long or the lane copies

  // ctr: out is as long as in.
  CounterBlock counter{};  // of the first 16 bytes

  // seal, open: the longer side holds at least a tag more for each segment, and so says how many there are;
  // only the last of them may be short.
  Nonce base_nonce{};
  std::uint64_t first_segment = 0;  // the nonce of segment i of the stream is the base's XOR i (big-endian)
  std::span<const std::byte> aad;   // of every segment; public, at most max_aad_bytes
};

}  // namespace gpuaes
