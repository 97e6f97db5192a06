// Sealed files made of parts (gpuaes-stream(5), "Suites 03 and 04"): the header is followed by frames, one
// for each part and one for their index. Each frame is a message of its own under the file key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cipher/ciphers.hpp"
#include "format/cobblestone.hpp"
#include "format/format.hpp"
#include "format/sealed.hpp"
#include "io/fd_source_sink.hpp"
#include "io/source_sink.hpp"
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

// The index, and where it puts the parts -----------------------------------------------------------

// Where a part is.
struct PartPlace {
  std::uint32_t number = 0;
  std::uint64_t begin = 0;      // in the body
  std::uint64_t end = 0;        // in the body
  std::uint64_t plaintext = 0;  // bytes of the parts before it
};

// The verified index of a file.
class PartsIndex {
 public:
  explicit PartsIndex(std::vector<IndexEntry> entries);

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
  const IndexEntry& entry(std::uint32_t number) const { return entries_[number]; }
  PartPlace place(std::uint32_t number) const;

  // The part with the byte at `offset` of the body or of the plaintext; the last part at the end.
  PartPlace part_at(std::uint64_t offset) const { return part_in(begins_, offset); }
  PartPlace part_with(std::uint64_t plaintext) const { return part_in(plaintext_, plaintext); }

  std::uint64_t body_bytes() const { return begins_.back(); }
  std::uint64_t plaintext_bytes() const { return plaintext_.back(); }

 private:
  PartPlace part_in(const std::vector<std::uint64_t>& begins, std::uint64_t offset) const;

  std::vector<IndexEntry> entries_;
  std::vector<std::uint64_t> begins_;     // of each part in the body, then its size
  std::vector<std::uint64_t> plaintext_;  // of each part in the plaintext, then its size
};

// Throws AuthError: the input is corrupt at byte `at`, in `what`.
[[noreturn]] void refuse_parts(std::uint64_t at, std::string_view what);

// Opens an index whose segments begin at byte `at` of the input. `read` returns the next bytes of them, and
// `take` receives the plaintext of one segment after another. AuthError if a commitment or a tag is wrong.
void open_index(const FrameSecret& secret, const FrameHeader& header, std::uint64_t at,
                const std::function<void(std::span<std::byte>)>& read,
                const std::function<void(std::span<const std::byte>)>& take);

// An index and the header of its frame, whose last segment is followed by the number of parts.
struct FoundIndex {
  std::uint64_t at;  // of the frame in the source
  FrameHeader header;
  std::vector<IndexEntry> entries;
};

// The index at the end of a source of `size` bytes that can be read at any offset. The parts precede it.
// `before`: bytes of the parts that precede the source; if not set, the source is only the index. `in_input`
// is the offset of the source in the input, for messages. AuthError if the index is missing or damaged, or
// lists parts of other sizes.
FoundIndex read_index(const Source& source, std::uint64_t size, std::optional<std::uint64_t> before,
                      const FrameSecret& secret, std::uint64_t in_input);

// The same, for an index in its own file. AuthError names the file.
FoundIndex read_index_file(const FdSource& file, const FrameSecret& secret);

// The number of parts in an index that is a file of its own; not authenticated. AuthError if the file does
// not have the size for it.
std::uint32_t read_count(const FdSource& file);

// The frame header at `offset` of a source that can be read there. None if the kind is unknown.
std::optional<FrameHeader> read_frame_header(const Source& source, std::uint64_t offset);

// The sizes of a file, from its frame headers alone: without a key, and not authenticated.
struct PartsLayout {
  std::uint64_t parts = 0, segments = 0, plaintext = 0;  // of the parts present as a whole; sizes in bytes
  bool complete = false;                                 // and the index and the number of parts follow them
};

// The parts that begin at byte `begin` of an input of `size` bytes.
PartsLayout read_parts_layout(const Source& input, std::uint64_t begin, std::uint64_t size, Cipher cipher);

}  // namespace gpuaes
