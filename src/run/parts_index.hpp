// Reads the index of a file made of parts (gpuaes-stream(5), "Suites 03 and 04").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "format/parts.hpp"

namespace gpuaes {

// Throws AuthError: the input is corrupt at byte `at`, in `what`.
[[noreturn]] void refuse_parts(std::uint64_t at, std::string_view what);

// Opens an index whose segments begin at byte `at` of the input. `read` returns the next bytes of them, and
// `take` receives the plaintext of one segment after another. AuthError if a commitment or a tag is wrong.
void open_index(const FrameSecret& secret, const FrameHeader& header, std::uint64_t at,
                const std::function<void(std::span<std::byte>)>& read,
                const std::function<void(std::span<const std::byte>)>& take);

}  // namespace gpuaes
