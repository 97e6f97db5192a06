// Checks the files that hold sealed parts and receipts.
#pragma once

#include <cstdint>
#include <string>

#include "format/parts.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

// Checks everything about a part except the segments before the last one: size, commitment, last tag. The
// file, at its beginning, then continues after the frame header. AuthError if it is not a complete part for
// `secret`; UsageError if it is not a file.
FrameHeader check_part(FdSource& file, const FrameSecret& secret);

// I/N, or I if all of an input is the part.
std::string share_text(std::uint32_t number, std::uint32_t of);

}  // namespace gpuaes
