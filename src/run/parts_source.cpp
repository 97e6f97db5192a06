#include "run/parts_source.hpp"

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
#include "format/sealed.hpp"
#include "run/parts_index.hpp"

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

// Parts in a file are read in any order, once the index is verified.
class SeekableParts : public PartsSource {
 public:
  SeekableParts(Source& input, std::uint64_t input_bytes, PartsSession& session, bool salvage)
      : input_(input), input_bytes_(input_bytes), session_(session), salvage_(salvage) {
    try {
      session.set_index(read_index());
      open_part(index().place(0), session.first());
    } catch (const AuthError& error) {
      throw AuthError(fmt::format("{}; nothing was written", error.what()), error.hint());
    }
  }

  std::uint64_t framing_bytes() const override { return input_bytes_ - index().body_bytes(); }
  std::uint64_t parallel_size() const override { return index().body_bytes(); }
  std::size_t read(std::span<std::byte>) override { return 0; }
  bool ready(std::chrono::milliseconds) override { return true; }

  std::uint64_t message_end(std::uint64_t offset) override {
    return offset < index().body_bytes() ? index().part_at(offset).end : offset;
  }

  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const PartPlace part = index().part_at(offset);
    if (!session_.is_open(part))
      open_part(part, read_frame_header(input_, past_headers(part, part.begin) - frame_header_bytes));
    input_.read_at(past_headers(part, offset), out);
  }

  std::size_t place_in_page(std::uint64_t offset) const override {
    return input_.place_in_page(past_headers(index().part_at(offset), offset));
  }

  void skip_to(std::uint64_t offset) override {
    const bool at_end = offset == index().body_bytes();
    input_.skip_to(at_end ? input_bytes_ : past_headers(index().part_at(offset), offset));
  }

 private:
  const PartsIndex& index() const { return *session_.index(); }

  // The offset in input_, which continues after the first frame header, of byte `offset` of the body.
  static std::uint64_t past_headers(const PartPlace& part, std::uint64_t offset) {
    return part.number * std::uint64_t{frame_header_bytes} + offset;
  }

  // The offset in the whole input, for messages.
  std::uint64_t in_input(std::uint64_t offset) const { return session_.input_offset({}) + offset; }

  void open_part(const PartPlace& part, const std::optional<FrameHeader>& header) const {
    if (header && matches_index(*header, part.number) && session_.open_part(*header, part)) return;
    if (!salvage_)
      refuse_parts(session_.input_offset(part) - frame_header_bytes,
                   fmt::format("the header of part {}", part.number));
    session_.lose_part(part);
  }

  bool matches_index(const FrameHeader& header, std::uint32_t number) const {
    const bool same_cut = salvage_ || header.of == session_.first().of;
    return same_cut && is_listed(header, number, index().entry(number), index().count(), session_.cipher());
  }

  // The number of parts is not authenticated, and serves only to find the index.
  PartsIndex read_index() const {
    if (input_bytes_ < part_count_bytes) refuse_index(input_bytes_);
    const std::uint64_t end = input_bytes_ - part_count_bytes;
    const std::uint64_t count = read_part_count(input_, input_bytes_);
    if (count < 1 || count > max_parts) refuse_index(end);
    const std::uint64_t index_bytes = frame_header_bytes + sealed_size(count * index_entry_bytes);
    const std::uint64_t min_part_bytes = frame_header_bytes + sealed_size(0);
    if (end < index_bytes || end - index_bytes + frame_header_bytes < count * min_part_bytes)
      refuse_index(end);
    const std::uint64_t at = end - index_bytes;
    const std::optional<FrameHeader> header = read_frame_header(input_, at);
    if (!header || !is_index(*header, count)) refuse_index(at);
    const std::uint64_t segments_at = at + frame_header_bytes;
    std::vector<IndexEntry> entries =
        read_entries(input_, segments_at, session_.secret(), *header, in_input(segments_at));
    check_lengths(entries, at);
    session_.set_commitment(*header);
    return PartsIndex(std::move(entries));
  }

  // The parts must fill the input up to the index.
  void check_lengths(std::span<const IndexEntry> entries, std::uint64_t index_at) const {
    std::uint64_t left = index_at + frame_header_bytes;  // of part 0, too
    for (const IndexEntry& entry : entries) {
      const std::uint64_t length = entry.length;
      if (length >= max_part_bytes(session_.cipher()) || left < frame_header_bytes + sealed_size(length))
        refuse_index(index_at);
      left -= frame_header_bytes + sealed_size(length);
    }
    if (left != 0) refuse_index(index_at);
  }

  [[noreturn]] void refuse_index(std::uint64_t at) const {
    throw AuthError(fmt::format(
        "the input is corrupt or truncated at byte {}: its index is missing or damaged", in_input(at)));
  }

  Source& input_;
  std::uint64_t input_bytes_;
  PartsSession& session_;
  const bool salvage_;
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
