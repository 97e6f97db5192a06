// How a message is cut into segments, which are authenticated separately, and how the nonce of each follows
// from the message's. A sealed segment is the ciphertext followed by the tag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gpuaes {

// The segments of the sealed and cobblestone formats.
inline constexpr std::size_t segment_bytes = 16384;  // of plaintext
inline constexpr std::size_t tag_bytes = 16;
inline constexpr std::size_t sealed_segment_bytes = segment_bytes + tag_bytes;

struct SegmentRules {
  std::size_t plain_bytes = segment_bytes;  // of each segment except the last

  // If set, the last segment may be as long as the others and is not empty unless it is the only one. This
  // byte of its nonce is 1, and the segment number is in the bytes before it. If not, the last segment is
  // always shorter and may be empty, and the segment number is in all bytes.
  std::optional<std::size_t> last_flag = {};

  constexpr std::size_t sealed_bytes() const { return plain_bytes + tag_bytes; }
  constexpr bool last_may_be_full() const { return last_flag.has_value(); }
  friend bool operator==(const SegmentRules&, const SegmentRules&) = default;
};

// The segments of age files (https://age-encryption.org/v1, "Payload").
inline constexpr SegmentRules age_segments{.plain_bytes = 64 << 10, .last_flag = 11};

// The size of a sealed message with that many bytes of plaintext.
constexpr std::uint64_t sealed_size(std::uint64_t plain_bytes, const SegmentRules& rules = {}) {
  const bool ends_full = rules.last_may_be_full() && plain_bytes > 0 && plain_bytes % rules.plain_bytes == 0;
  return plain_bytes + tag_bytes * (plain_bytes / rules.plain_bytes + (ends_full ? 0 : 1));
}

}  // namespace gpuaes
