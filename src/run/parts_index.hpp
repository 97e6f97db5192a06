// Reads the index of a file made of parts (gpuaes-stream(5), "Suites 03 and 04").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "format/parts.hpp"
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

// The frame header at `offset` of a source that can be read there. None if the kind is unknown.
std::optional<FrameHeader> read_frame_header(const Source& source, std::uint64_t offset);

// The number of parts, not authenticated, in the last bytes of a source of `size` bytes.
std::uint64_t read_part_count(const Source& source, std::uint64_t size);

}  // namespace gpuaes
