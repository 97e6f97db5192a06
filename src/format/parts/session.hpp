// Decrypts a file made of parts. Its body is the segments of all parts, one part after another: the source of
// the session reads the frame headers and the index, which are not in the body, and opens each part before
// the pipeline reads its segments.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "format/format.hpp"
#include "format/parts/frames.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// What the session and its source share.
class OpenParts {
 public:
  struct Part {
    PartPlace place;
    std::unique_ptr<Session> session;
    std::uint64_t unverified;  // bytes of its segments
  };

  OpenParts(FrameSecret file_secret, std::uint64_t bytes_before, bool salvages)
      : secret(std::move(file_secret)), input_bytes(bytes_before), salvage(salvages) {}

  const FrameSecret secret;
  const std::uint64_t input_bytes;  // of input before the segments of part 0
  const bool salvage;               // a part that cannot be opened is lost, which is not an error

  std::optional<PartsIndex> index;    // if it is known before the pipeline starts
  std::vector<std::byte> commitment;  // of the index, once that has been verified
  std::atomic<std::int64_t> of = -1;  // the `of` of the first part opened; all parts must have the same one

  // The offset in the input of a part's segments.
  std::uint64_t input_offset(const PartPlace& part) const;

  // The following may be called from any thread.

  // Makes a part's segments available, unless they are. Returns false if the commitment does not match the
  // secret.
  bool open(const FrameHeader& header, const PartPlace& place);
  bool is_open(const PartPlace& place);

  // If it cannot be opened: gives it a random key instead, with which no segment verifies.
  void lose(const PartPlace& place);

  // The open part with the byte at `offset` of the body. Stays open until verified() has received all of it.
  Part& at(std::uint64_t offset);
  void verified(Part& part, std::size_t bytes);

  PartPlace last() const { return last_; }  // opened; for the thread that opens parts

 private:
  void add(const PartPlace& place, std::unique_ptr<Session> session);

  // Keys take locked memory, so a part is closed once all of its segments have been verified.
  std::mutex mutex_;
  std::map<std::uint64_t, Part> parts_;  // by the offset of the end in the body
  PartPlace last_;
};

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

class PartsSession : public Session {
 public:
  // `first` is the header of the first frame: part 0, or the index. `input_bytes` is the number of bytes of
  // input before the segments of part 0. With `salvage`, `first` may be wrong.
  PartsSession(FrameSecret secret, const FrameHeader& first, std::uint64_t input_bytes, bool salvage);

  std::unique_ptr<BodySource> open_source(const RestOfInput& rest) override;

  // A piece must be in one part, which must be open, or empty.
  std::span<const std::byte> commitment() const override { return parts_->commitment; }
  std::size_t unit_in() const override { return sealed_segment_bytes; }
  std::size_t unit_out() const override { return segment_bytes; }
  Cipher cipher() const override { return parts_->secret.cipher; }
  std::size_t output_size(std::size_t in_size, bool last) const override;
  std::uint64_t plaintext_before(std::uint64_t offset) const override;
  Job job(const Piece& piece) const override;
  Outcome verify(const Piece& piece, std::optional<std::size_t> bad_segment) const override;

 private:
  const std::unique_ptr<OpenParts> parts_;
  const FrameHeader first_;

  // For empty pieces: the end of the stream, and pieces that could not be read.
  const std::unique_ptr<Session> for_nothing_;
};

}  // namespace gpuaes
