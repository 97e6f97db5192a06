// --range: a part of a plaintext, decrypted without the parts before it.
#pragma once

#include <cstdint>

#include "cli/options.hpp"
#include "run/open_stream.hpp"
#include "run/window.hpp"

namespace gpuaes {

// Where a range is.
struct RangePlace {
  std::uint64_t offset, length;  // bytes of plaintext
  std::uint64_t begin, size;     // the units of the body that it takes, in bytes
  std::uint64_t skipped;         // bytes of plaintext of the first unit
};

// In a stream to decrypt whose body is a file or a block device of `body_bytes`. Opens the last unit before
// anything else: where the format has segments, the length is then authentic too. AuthError if that segment
// is damaged, or not the last one; UsageError for a range beyond the end.
RangePlace find_range(const ByteRange& range, const Source& source, const Session& session,
                      std::uint64_t body_bytes);

class RangeStream : public OpenStream {
 public:
  // The range of a stream to decrypt, whose size is known. Throws what find_range() throws.
  RangeStream(const ByteRange& range, StreamParts parts);

  Source& source() override { return source_; }
  const Session& session() const override { return session_; }
  Sink& sink() override { return sink_; }
  std::uint64_t bytes_out(std::uint64_t) const override { return sink_.passed(); }

 private:
  std::optional<std::uint64_t> body_bytes() const override { return place_.size; }

  RangePlace place_;
  WindowSource source_;
  WindowSession session_;
  WindowSink sink_;
};

}  // namespace gpuaes
