// The index of a file made of parts, and where it puts them (gpuaes-stream(5), "Suites 03 and 04").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "format/parts/frames.hpp"
#include "io/fd_source_sink.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

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
