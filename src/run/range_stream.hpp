// --range: of a stream that was encrypted a part alone, which is found without what is before it.
#pragma once

#include <cstdint>

#include "cli/options.hpp"
#include "run/stream.hpp"
#include "run/window.hpp"

namespace gpuaes {

// Where a range lies.
struct RangePlace {
  std::uint64_t offset, length;  // of plaintext
  std::uint64_t begin, size;     // the units of the body that it takes, in bytes
  std::uint64_t skipped;         // bytes of plaintext of the first unit
};

// In a stream to decrypt, whose source is a file or a block device with so many bytes. Opens the last segment
// before anything else, so that the length is authentic too where the format has segments: AuthError where it
// is damaged, or not the last one. UsageError for a range that goes beyond the end.
RangePlace find_range(const ByteRange& range, const Stream& whole, std::uint64_t body_bytes);

// The stream of what lies there.
class RangeStream {
 public:
  RangeStream(const RangePlace& place, const Stream& whole)
      : size_(place.size),
        source_(*whole.source, place.begin, place.size),
        session_(*whole.session, place.begin, place.offset),
        sink_(*whole.sink, place.skipped, place.length) {}

  Stream stream() { return {&source_, &session_, &sink_}; }
  std::uint64_t size() const { return size_; }  // bytes of the body
  std::uint64_t written() const { return sink_.passed(); }

 private:
  std::uint64_t size_;
  WindowSource source_;
  WindowSession session_;
  WindowSink sink_;
};

}  // namespace gpuaes
