// Decrypts a file made of parts. Its body is the segments of all parts, one part after another: a source of
// the run (source.hpp) reads the frame headers and the index, which are not in the body, and opens
// each part before the pipeline reads its segments.
#pragma once

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

namespace gpuaes {

// Where a part is.
struct PartPlace {
  std::uint32_t number = 0;
  std::uint64_t begin = 0;      // in the body
  std::uint64_t end = 0;        // in the body
  std::uint64_t plaintext = 0;  // bytes of the parts before it
};

// The verified index of a file.
class PartsIndex {
 public:
  explicit PartsIndex(std::vector<IndexEntry> entries);

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
  const IndexEntry& entry(std::uint32_t number) const { return entries_[number]; }
  PartPlace place(std::uint32_t number) const;

  // The part with the byte at `offset` of the body or of the plaintext; the last part at the end.
  PartPlace part_at(std::uint64_t offset) const;
  PartPlace part_with(std::uint64_t plaintext) const;

  std::uint64_t body_bytes() const { return begins_.back(); }
  std::uint64_t plaintext_bytes() const { return plaintext_.back(); }

 private:
  PartPlace part_in(const std::vector<std::uint64_t>& begins, std::uint64_t offset) const;

  std::vector<IndexEntry> entries_;
  std::vector<std::uint64_t> begins_;     // of each part in the body, then its size
  std::vector<std::uint64_t> plaintext_;  // of each part in the plaintext, then its size
};

class PartsSession : public Session {
 public:
  // `first` is the header of the first frame: part 0, or the index. `input_bytes` is the number of bytes of
  // input before the segments of part 0.
  PartsSession(FrameSecret secret, const FrameHeader& first, std::uint64_t input_bytes);

  // A session with part 0 open. Null if its commitment does not match the secret.
  static std::unique_ptr<PartsSession> open(FrameSecret secret, const FrameHeader& first,
                                            std::uint64_t input_bytes);

  const FrameSecret& secret() const noexcept { return secret_; }
  const FrameHeader& first() const noexcept { return first_; }

  // The offset in the input of a part's segments.
  std::uint64_t input_offset(const PartPlace& part) const;

  // Makes a part's segments available to job(), unless they are. Returns false if the commitment does not
  // match the secret. From any thread.
  bool open_part(const FrameHeader& header, const PartPlace& place);
  bool is_open(const PartPlace& place) const;

  // If it cannot be opened: gives it a random key instead, with which no segment verifies.
  void lose_part(const PartPlace& place);

  // Before the pipeline starts, if the index is known.
  void set_index(PartsIndex index) { index_ = std::move(index); }
  const std::optional<PartsIndex>& index() const noexcept { return index_; }

  // Once the index has been verified, which is at the end of a pipe.
  void set_commitment(const FrameHeader& index) {
    commitment_.assign(index.commitment().begin(), index.commitment().end());
  }

  // As a Session: a piece must be in one part, which must be open, or empty.
  std::span<const std::byte> commitment() const override { return commitment_; }
  std::size_t unit_in() const override { return sealed_segment_bytes; }
  std::size_t unit_out() const override { return segment_bytes; }
  Cipher cipher() const override { return secret_.cipher; }
  std::size_t output_size(std::size_t in_size, bool last) const override;
  std::uint64_t plaintext_before(std::uint64_t offset) const override;
  std::uint64_t unit_with(std::uint64_t plaintext) const override;
  std::optional<std::uint64_t> plaintext_bytes() const override;
  Job job(const Piece& piece) const override;
  Outcome verify(const Piece& piece, std::optional<std::size_t> bad_segment) const override;

 private:
  struct OpenPart {
    PartPlace place;
    std::unique_ptr<Session> session;
    std::uint64_t unverified;  // bytes of its segments
  };
  using OpenParts = std::map<std::uint64_t, OpenPart>;  // by the offset of its end in the body

  // A session with a random key, with which no segment verifies.
  std::unique_ptr<Session> make_useless_session(const MessagePlace& place) const;

  void add_part(const PartPlace& place, std::unique_ptr<Session> session);
  const OpenPart& part_of(const Piece& piece) const;

  FrameSecret secret_;
  FrameHeader first_;
  std::uint64_t input_bytes_;
  std::optional<PartsIndex> index_;
  std::vector<std::byte> commitment_;

  // For empty pieces: the end of the stream, and pieces that could not be read.
  std::unique_ptr<Session> for_nothing_;

  // Keys take locked memory, so a part is closed once all of its segments have been verified.
  mutable std::mutex mutex_;
  mutable OpenParts open_;
  PartPlace last_;  // opened
};

}  // namespace gpuaes
