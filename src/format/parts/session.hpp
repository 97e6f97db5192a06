#pragma once

#include <cstdint>
#include <memory>

#include "format/format.hpp"
#include "format/parts/frames.hpp"

namespace gpuaes {

// Decrypts a file made of parts. Its body is the segments of all parts, one part after another: the source of
// the session reads the frame headers and the index, which are not in the body, and opens each part before
// the pipeline reads its segments. A piece must be in one part, which must be open, or empty.
//
// `first` is the header of the first frame: part 0, or the index. `input_bytes` is the number of bytes of
// input before the segments of part 0. With `salvage`, `first` may be wrong.
std::unique_ptr<Session> make_parts_session(FrameSecret secret, const FrameHeader& first,
                                            std::uint64_t input_bytes, bool salvage);

}  // namespace gpuaes
