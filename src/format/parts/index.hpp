// Reads the index of a file made of parts (gpuaes-stream(5), "Suites 03 and 04").
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

// Throws AuthError: the input is corrupt at byte `at`, in `what`.
[[noreturn]] void refuse_parts(std::uint64_t at, std::string_view what);

// Opens an index whose segments begin at byte `at` of the input. `read` returns the next bytes of them, and
// `take` receives the plaintext of one segment after another. AuthError if a commitment or a tag is wrong.
void open_index(const FrameSecret& secret, const FrameHeader& header, std::uint64_t at,
                const std::function<void(std::span<std::byte>)>& read,
                const std::function<void(std::span<const std::byte>)>& take);

// The index whose segments begin at `offset` of `source`, which can be read at any offset. Otherwise the
// same.
std::vector<IndexEntry> read_entries(const Source& source, std::uint64_t offset, const FrameSecret& secret,
                                     const FrameHeader& header, std::uint64_t at);

// An index and the header of its frame, whose last segment is followed by the number of parts.
struct FoundIndex {
  std::uint64_t at;  // of the frame in the source
  FrameHeader header;
  std::vector<IndexEntry> entries;
};

// The index at the end of a source of `size` bytes that can be read at any offset. The parts precede it; of
// them, `before` bytes are not in the source. `in_input` is the offset of the source in the input, for
// messages. AuthError if the index is missing or damaged.
FoundIndex read_index(const Source& source, std::uint64_t size, std::uint64_t before,
                      const FrameSecret& secret, std::uint64_t in_input);

// The same, of the file of an index alone. AuthError names the file.
FoundIndex read_index_file(const FdSource& file, const FrameSecret& secret);

// The number of parts in an index that is a file of its own; not authenticated. AuthError if the file does
// not have the size for it.
std::uint32_t read_count(const FdSource& file);

// Throws AuthError: the index at byte `at` of the input is missing or damaged.
[[noreturn]] void refuse_index(std::uint64_t at);

// The frame header at `offset` of a source that can be read there. None if the kind is unknown.
std::optional<FrameHeader> read_frame_header(const Source& source, std::uint64_t offset);

// The number of parts, not authenticated, in the last bytes of a source of `size` bytes.
std::uint64_t read_part_count(const Source& source, std::uint64_t size);

}  // namespace gpuaes
