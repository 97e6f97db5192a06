// Reads a file made of parts (gpuaes-stream(5), "Suites 03 and 04") for a PartsSession: takes the frame
// headers and the index out of the input and verifies them, so that the pipeline sees only the parts'
// segments.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "format/format.hpp"
#include "format/parts/session.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// `input` continues after the first frame header, `first`, and must outlive the source. If it can be read at
// any offset, `input_bytes` is its size from there: the index is then read and verified first. Otherwise each
// part is checked when it arrives, and the index at the end. AuthError if the index is missing or wrong,
// which read functions throw if it is at the end.
//
// With OpenParts::salvage, nothing has been verified, and a part with a wrong header is lost: none of its
// segments opens. Without a valid index, all input is read as if it could not be read at any offset. Damage
// that hides where the next frame begins is still an AuthError. So is damage to part 0, if there is no valid
// index.
std::unique_ptr<BodySource> make_parts_source(Source& input, std::optional<std::uint64_t> input_bytes,
                                              OpenParts& parts, const FrameHeader& first);

// Parts that can be read in any order, because the index has been verified first.
class IndexedParts : public BodySource {
 public:
  IndexedParts(OpenParts& parts, FoundIndex index);

  const PartsIndex* index() const override { return &*parts_.index; }
  std::uint64_t parallel_size() const override { return index()->body_bytes(); }
  std::size_t read(std::span<std::byte>) override { return 0; }
  bool ready(std::chrono::milliseconds) override { return true; }
  std::uint64_t message_end(std::uint64_t offset) override;
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  std::size_t place_in_page(std::uint64_t offset) const override;

 protected:
  // Where a part is stored. Its segments follow its frame header.
  struct Stored {
    std::shared_ptr<const Source> file;  // null if it is missing
    std::uint64_t size = 0;              // of the file, in bytes
    std::uint64_t segments_at = frame_header_bytes;
  };

  // Opens a part with that frame header. If it does not match the index, throws AuthError or, when
  // salvaging, marks the part as lost.
  void open_part(const PartPlace& part, const std::optional<FrameHeader>& header) const;

  OpenParts& parts_;

 private:
  virtual Stored find(const PartPlace& part) const = 0;
};

}  // namespace gpuaes
