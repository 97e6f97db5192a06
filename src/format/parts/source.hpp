// Reads a file made of parts (gpuaes-stream(5), "Suites 03 and 04") for a PartsSession: takes the frame
// headers and the index out of the input and verifies them, so that the pipeline sees only the parts'
// segments.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "format/parts/session.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

class PartsSource : public Source {
 public:
  // The bytes of frame headers, index and number of parts that have been read so far. From any thread.
  virtual std::uint64_t framing_bytes() const = 0;
};

// `input` continues after the first frame header, and must outlive the source. If it can be read at any
// offset, `input_bytes` is its size from there: the index is then read and verified first. Otherwise each
// part is checked when it arrives, and the index at the end. AuthError if the index is missing or wrong,
// which read functions throw if it is at the end.
//
// With `salvage`, only the beginning of the session has been verified, and a part with a wrong header is
// lost: none of its segments opens. Without a valid index, all input is read as if it could not be read at
// any offset. Damage that hides where the next frame begins is still an AuthError. So is damage to part 0, if
// there is no valid index.
std::unique_ptr<PartsSource> make_parts_source(Source& input, std::optional<std::uint64_t> input_bytes,
                                               PartsSession& session, bool salvage = false);

}  // namespace gpuaes
