#include "format/parts/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/parts/index.hpp"
#include "format/parts/indexed_source.hpp"
#include "format/sealed.hpp"

namespace gpuaes {
namespace {

using FrameBytes = std::array<std::byte, frame_header_bytes>;

// Parts from a pipe are read in order, and compared with the index at the end.
class StreamedParts : public PartsSource {
 public:
  StreamedParts(Source& input, PartsSession& session, bool salvage)
      : input_(input), session_(session), salvage_(salvage), at_(session.input_offset({})) {
    const FrameHeader& first = session.first();
    const PartPlace place{0, 0, sealed_size(first.length), 0};
    if (!is_part(first, 0, session.cipher()) || !session.open_part(first, place))
      refuse_message_header(at_ - frame_header_bytes);
    begin_part(first, place);
  }

  std::uint64_t framing_bytes() const override { return framing_bytes_; }
  std::uint64_t parallel_size() const override { return 0; }
  void read_at(std::uint64_t, std::span<std::byte>) const override {}
  void skip_to(std::uint64_t) override {}
  bool ready(std::chrono::milliseconds patience) override { return input_.ready(patience); }

  std::size_t read(std::span<std::byte> out) override {
    const std::size_t count = read_some(out);
    if (count == 0) refuse_truncated(fmt::format("part {}", part_.number));
    return count;
  }

  std::uint64_t message_end(std::uint64_t offset) override {
    if (offset < part_.end) return part_.end;
    const std::uint64_t at = at_;
    FrameBytes bytes;
    read_framing(bytes);
    const std::optional<FrameHeader> header = decode_frame(bytes);
    if (header && header->kind == FrameKind::index)
      check_index(*header);
    else if (!header || !open_next_part(*header))
      refuse_parts(at, fmt::format("the header of part {}", part_.number + 1));
    return part_.end;
  }

 private:
  bool open_next_part(const FrameHeader& header) {
    const std::uint32_t number = part_.number + 1;
    if (!is_part(header, number, session_.cipher()) || header.of != session_.first().of) return false;
    const PartPlace next{number, part_.end, part_.end + sealed_size(header.length),
                         part_.plaintext + length_};
    if (!session_.open_part(header, next)) {
      if (!salvage_) return false;
      session_.lose_part(next);
    }
    begin_part(header, next);
    return true;
  }

  void begin_part(const FrameHeader& header, const PartPlace& place) {
    part_ = place;
    length_ = header.length;
    digest_.add(encode(entry_of(header)));
  }

  void check_index(const FrameHeader& header) {
    const std::uint64_t at = at_ - frame_header_bytes, parts = part_.number + std::uint64_t{1};
    const std::uint32_t of = session_.first().of;
    if (!is_index(header, parts) || (of != 0 && of != parts)) refuse_parts(at, "the header of the index");
    Sha512 listed;
    open_index(
        session_.secret(), header, at_, [this](auto out) { read_framing(out); },
        [&listed](auto entries) { listed.add(entries); });
    if (listed.finish() != digest_.finish()) refuse_parts(at, "the index, which lists other parts");
    const std::uint64_t count_at = at_;
    std::array<std::byte, part_count_bytes> count;
    read_framing(count);
    if (load_big_endian(count) != parts) refuse_parts(count_at, "the number of parts");
    std::byte beyond;
    if (read_some({&beyond, 1}) != 0)
      throw AuthError(fmt::format("the input has trailing bytes after byte {}", count_at + count.size()));
    session_.set_commitment(header);
  }

  std::size_t read_some(std::span<std::byte> out) {
    const std::size_t count = input_.read(out);
    at_ += count;
    return count;
  }

  void read_framing(std::span<std::byte> out) {
    while (!out.empty()) {
      const std::size_t count = read_some(out);
      if (count == 0) refuse_truncated("a part or the index");
      framing_bytes_ += count;
      out = out.subspan(count);
    }
  }

  [[noreturn]] void refuse_truncated(std::string_view where) const {
    throw AuthError(fmt::format("the input is truncated after byte {}, in {}", at_, where));
  }

  Source& input_;
  PartsSession& session_;
  const bool salvage_;
  std::uint64_t at_;  // in the input
  std::atomic<std::uint64_t> framing_bytes_ = 0;
  PartPlace part_;            // the last one begun
  std::uint64_t length_ = 0;  // of its plaintext
  Sha512 digest_;             // of the index that the parts so far should have: it may be 40 MiB long
};

// Parts in one file are read in any order, once the index is verified.
class SeekableParts : public IndexedParts {
 public:
  SeekableParts(Source& input, std::uint64_t input_bytes, PartsSession& session, bool salvage)
      : IndexedParts(session, salvage), input_(input), input_bytes_(input_bytes) {
    try {
      set_index(find_index());
      open_part(index().place(0), session.first());
    } catch (AuthError& error) {
      error.append("; nothing was written");
      throw;
    }
  }

  std::uint64_t framing_bytes() const override { return input_bytes_ - index().body_bytes(); }
  bool prepare_parallel() override { return input_.prepare_parallel(); }
  void skip_to(std::uint64_t offset) override {
    const bool at_end = offset == index().body_bytes();
    input_.skip_to(at_end ? input_bytes_ : in_source(index().part_at(offset), offset));
  }

 private:
  // The offset in input_, which continues after the first frame header, of byte `offset` of the body.
  static std::uint64_t in_source(const PartPlace& part, std::uint64_t offset) {
    return part.number * std::uint64_t{frame_header_bytes} + offset;
  }

  std::optional<FrameHeader> header_of(const PartPlace& part) const override {
    return read_frame_header(input_, in_source(part, part.begin) - frame_header_bytes);
  }
  void read_segments(const PartPlace& part, std::uint64_t offset, std::span<std::byte> out) const override {
    input_.read_at(in_source(part, part.begin + offset), out);
  }
  std::size_t place_in_page(std::uint64_t offset) const override {
    return input_.place_in_page(in_source(index().part_at(offset), offset));
  }

  // The frame header of part 0 precedes the source.
  FoundIndex find_index() const {
    FoundIndex index =
        read_index(input_, input_bytes_, frame_header_bytes, session().secret(), session().input_offset({}));
    check_lengths(index.entries, index.at);
    return index;
  }

  // The parts must fill the input up to the index.
  void check_lengths(std::span<const IndexEntry> entries, std::uint64_t index_at) const {
    const std::uint64_t at = session().input_offset({}) + index_at;
    std::uint64_t left = index_at + frame_header_bytes;  // of part 0, too
    for (const IndexEntry& entry : entries) {
      const std::uint64_t length = entry.length;
      if (length >= max_part_bytes(session().cipher()) || left < frame_header_bytes + sealed_size(length))
        refuse_index(at);
      left -= frame_header_bytes + sealed_size(length);
    }
    if (left != 0) refuse_index(at);
  }

  Source& input_;
  std::uint64_t input_bytes_;
};

}  // namespace

std::unique_ptr<PartsSource> make_parts_source(Source& input, std::optional<std::uint64_t> input_bytes,
                                               PartsSession& session, bool salvage) {
  try {
    if (input_bytes) return std::make_unique<SeekableParts>(input, *input_bytes, session, salvage);
  } catch (const AuthError&) {
    if (!salvage) throw;
  }
  return std::make_unique<StreamedParts>(input, session, salvage);
}

}  // namespace gpuaes
