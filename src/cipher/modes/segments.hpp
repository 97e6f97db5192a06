// How a job to seal or to open is divided into segments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "cipher/host_device.hpp"
#include "cipher/job.hpp"

namespace gpuaes {

// One segment: `sealed` is its ciphertext followed by its tag, and `plain` is its plaintext.
template <class Sealed, class Plain>
struct Segment {
  Nonce nonce;
  std::span<Sealed> sealed;
  std::span<Plain> plain;

  std::span<Sealed> ciphertext() const { return sealed.first(plain.size()); }
  std::span<Sealed> tag() const { return sealed.subspan(plain.size()); }
};

// base_nonce XOR number, both as big-endian numbers, with the flag of the last segment. MGM ignores the
// highest bit.
constexpr Nonce segment_nonce(Nonce base_nonce, std::uint64_t number, const SegmentRules& rules = {},
                              bool is_last = false) {
  for (std::size_t i = rules.last_flag.value_or(base_nonce.size); i-- > 0; number >>= 8)
    base_nonce.bytes[i] ^= static_cast<std::uint8_t>(number);
  if (is_last && rules.last_flag) base_nonce.bytes[*rules.last_flag] ^= 1;
  return base_nonce;
}

// Throws LaneError if the nonce of a job with segments does not have the length that its cipher requires.
inline void check_nonce(const Job& job) {
  if (job.base_nonce.size != info(job.key->cipher).aead.nonce_bytes)
    throw LaneError("the length of the job's nonce does not fit its cipher");
}

constexpr std::size_t count_segments(std::size_t sealed_bytes, const SegmentRules& rules = {}) {
  return (sealed_bytes + rules.sealed_bytes() - 1) / rules.sealed_bytes();
}

inline std::size_t count_segments(const Job& job) {
  return count_segments(job.operation == Operation::seal ? job.out.size() : job.in.size(), job.rules);
}

// Consecutive segments for kernels, which number them from 0. Each but the last has `full_bytes` of
// plaintext.
template <std::size_t full_bytes = segment_bytes>
struct SegmentCut {
  static constexpr std::size_t sealed_full_bytes = full_bytes + tag_bytes;

  std::uint64_t first;  // number in the stream
  std::size_t count;
  std::size_t sealed_bytes;  // of all segments

  GPUAES_HD std::size_t plain_bytes(std::uint64_t segment) const {
    const std::uint64_t rest = sealed_bytes - segment * sealed_full_bytes;
    return (rest < sealed_full_bytes ? rest : sealed_full_bytes) - tag_bytes;
  }
  GPUAES_HD unsigned blocks(std::uint64_t segment) const {
    return static_cast<unsigned>(plain_bytes(segment) + 15) / 16;
  }
};

// Segment `index` of a job, counted from 0.
template <class Sealed, class Plain>
Segment<Sealed, Plain> cut_segment(std::span<Sealed> sealed, std::span<Plain> plain, const Job& job,
                                   std::size_t index) {
  const std::size_t full = job.rules.plain_bytes, sealed_full = job.rules.sealed_bytes();
  const std::size_t at = index * full, sealed_at = index * sealed_full, left = sealed.size() - sealed_at;
  const bool is_last = left < sealed_full || (left == sealed_full && job.ends_message);
  return {segment_nonce(job.base_nonce, job.first_segment + index, job.rules, is_last),
          sealed.subspan(sealed_at, std::min(left, sealed_full)),
          plain.subspan(at, std::min(plain.size() - at, full))};
}

inline Segment<std::byte, const std::byte> segment_to_seal(const Job& job, std::size_t index) {
  return cut_segment(job.out, job.in, job, index);
}
inline Segment<const std::byte, std::byte> segment_to_open(const Job& job, std::size_t index) {
  return cut_segment(job.in, job.out, job, index);
}

// Calls `seal` for each segment of a job.
template <class Seal>
void seal_segments(const Job& job, Seal seal) {
  for (std::size_t i = 0; i < count_segments(job); ++i) seal(segment_to_seal(job, i));
}

// Calls `open` for each segment, up to the first one for which it returns false because the tag is wrong.
// Returns the index of that segment, if any.
template <class Open>
std::optional<std::size_t> open_segments(const Job& job, Open open) {
  for (std::size_t i = 0; i < count_segments(job); ++i)
    if (!open(segment_to_open(job, i))) return i;
  return std::nullopt;
}

}  // namespace gpuaes
