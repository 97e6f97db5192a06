// Sealed files made of parts (gpuaes-stream(5), "Suites 03 and 04"): the header is followed by frames, one
// for each part and one for their index. Each frame is a message of its own under the file key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cipher/ciphers.hpp"
#include "cipher/job.hpp"
#include "format/cobblestone.hpp"
#include "format/format.hpp"
#include "format/sealed.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr std::uint32_t max_parts = 1 << 20;
inline constexpr std::size_t frame_header_bytes = 17 + message_header_bytes;
inline constexpr std::size_t index_entry_bytes = 8 + commitment_bytes;
inline constexpr std::size_t part_count_bytes = 8;  // the number of parts, at the end of the file

enum class FrameKind : std::uint8_t { part = 1, index = 2 };

struct FrameHeader {
  FrameKind kind = FrameKind::part;
  std::uint32_t number = 0;
  std::uint32_t of = 0;      // of a part: into how many its input was cut, or 0
  std::uint64_t length = 0;  // of the plaintext, in bytes
  std::array<std::byte, message_header_bytes> message_header{};

  std::span<const std::byte, commitment_bytes> commitment() const {
    return std::span(message_header).last<commitment_bytes>();
  }
};

std::array<std::byte, frame_header_bytes> encode(const FrameHeader& header);

// None if the kind is unknown.
std::optional<FrameHeader> decode_frame(std::span<const std::byte, frame_header_bytes> bytes);

// Whether this is a well-formed frame header of that part.
bool is_part(const FrameHeader& header, std::uint32_t number, Cipher cipher);

// Whether this is a well-formed frame header of the index of that many parts.
bool is_index(const FrameHeader& header, std::uint64_t parts);

// The size of a frame's segments. `length` must be less than max_part_bytes().
constexpr std::uint64_t sealed_size(std::uint64_t length) {
  return length + tag_bytes * (length / segment_bytes + 1);
}

// The length of a part's plaintext is less than this.
std::uint64_t max_part_bytes(Cipher cipher);

// An entry of the index.
struct IndexEntry {
  std::uint64_t length = 0;
  std::array<std::byte, commitment_bytes> commitment{};

  bool operator==(const IndexEntry&) const = default;
};

IndexEntry entry_of(const FrameHeader& header);
std::array<std::byte, index_entry_bytes> encode(const IndexEntry& entry);
IndexEntry decode_entry(std::span<const std::byte, index_entry_bytes> bytes);

// Whether this is a well-formed frame header of that part, which has that entry in an index of `parts` parts.
bool is_listed(const FrameHeader& header, std::uint32_t number, const IndexEntry& entry, std::uint64_t parts,
               Cipher cipher);

// What all frames of a file have in common.
struct FrameSecret {
  Cipher cipher;
  Secret file_key;
  std::vector<std::byte> magic_and_suite;
  std::optional<std::string> label;
};

// `header` begins with the file's magic and suite.
FrameSecret make_frame_secret(Cipher cipher, const Secret& file_key, std::span<const std::byte> header,
                              const std::optional<std::string>& label);

// A frame with a fresh salt. The session's header() is the frame's, with the given length.
std::unique_ptr<Session> seal_frame(const FrameSecret& secret, FrameKind kind, std::uint32_t number,
                                    std::uint32_t of, std::uint64_t length);

// Null if the commitment does not match the secret.
std::unique_ptr<Session> open_frame(const FrameSecret& secret, const FrameHeader& header,
                                    const MessagePlace& place);

// A receipt describes a part to a joiner that cannot read it: the frame header without its kind, and a MAC.
inline constexpr std::size_t receipt_bytes = frame_header_bytes - 1 + mac_bytes;
std::array<std::byte, receipt_bytes> make_receipt(const FrameSecret& secret, const FrameHeader& part);

// The header of the part. None if the MAC or the commitment does not match the secret.
std::optional<FrameHeader> open_receipt(const FrameSecret& secret,
                                        std::span<const std::byte, receipt_bytes> receipt);

struct Share {
  std::uint32_t number;  // from 0
  std::uint32_t of;
};

// Bytes of an input or a plaintext.
struct ShareRange {
  std::uint64_t offset, length;
};

// The bytes of an input of `size` bytes that are part share.number of share.of. Parts begin at multiples of
// `unit` bytes.
ShareRange cut(std::uint64_t size, const Share& share, std::uint64_t unit = segment_bytes);

}  // namespace gpuaes
