// --range: a part of a plaintext, decrypted without the parts before it.
#pragma once

#include <cstdint>

#include "cli/options.hpp"
#include "run/open_stream.hpp"
#include "run/window.hpp"

namespace gpuaes {

// Where a range is.
struct RangePlace {
  std::uint64_t plaintext_offset = 0, plaintext_bytes = 0;
  std::uint64_t body_offset = 0, body_bytes = 0;  // of the whole units that hold it
  std::uint64_t skipped_bytes = 0;                // of plaintext, before it in the first of these
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
  std::optional<std::uint64_t> body_bytes() const override { return place_.body_bytes; }

  RangePlace place_;
  WindowSource source_;
  WindowSession session_;
  WindowSink sink_;
};

}  // namespace gpuaes
