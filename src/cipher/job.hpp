// The interface between formats and lanes: formats describe work as jobs. A job is self-contained, so any
// lane can do any job, in any order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/ciphers.hpp"
#include "cipher/modes/ctr.hpp"
#include "cipher/segment_rules.hpp"

namespace gpuaes {

enum class Operation {
  ctr,   // out = in XOR keystream of CTR mode (NIST SP 800-38A, section 6.5); encryption and decryption
  seal,  // authenticated encryption of each segment with the cipher's AEAD, to ciphertext and tag
  open,  // the inverse; verifies tags
};

// The maximum length of Job::aad, for which lanes reserve memory.
inline constexpr std::size_t max_aad_bytes = 1024;

// The nonce of an AEAD: `size` bytes, followed by zeros.
struct Nonce {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t size = 0;  // info(cipher).aead.nonce_bytes

  friend bool operator==(const Nonce&, const Nonce&) = default;
};
using Tag = std::array<std::uint8_t, tag_bytes>;

struct Job {
  Operation operation = Operation::ctr;
  const CipherKey* key = nullptr;  // belongs to the session, and exists until the session verifies the output
  std::span<const std::byte> in;   // of any length, including 0
  // Does not overlap `in`, or starts at the same address if it is as long as `in` or the lane copies the
  // input.
  std::span<std::byte> out;

  // ctr: out is as long as in.
  CounterBlock counter{};  // for the first 16 bytes

  // seal, open: the sealed side is longer by tag_bytes for each segment, and its length determines the number
  // of segments. Only the last one may be short; it is then the last of its message.
  SegmentRules rules{};
  Nonce base_nonce{};
  std::uint64_t first_segment = 0;  // its number in the message, for segment_nonce()
  bool ends_message = false;        // whether the last segment is the last of its message even if it is full
  std::span<const std::byte> aad;   // of every segment; public, at most max_aad_bytes

  // open: where the first segment and its plaintext begin, in bytes from the beginning of the whole input and
  // of its plaintext; for messages.
  std::uint64_t input_offset = 0;
  std::uint64_t plaintext_offset = 0;
};

}  // namespace gpuaes
