#include "format/parts/session.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/parts/directory.hpp"
#include "format/sessions.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

Piece in_part(const Piece& piece, const PartPlace& place) {
  return {piece.offset - place.begin, piece.in, piece.out, piece.last, piece.wanted_from};
}

// A session with a random key, with which no segment verifies.
std::unique_ptr<Session> make_useless_session(Cipher cipher, const MessagePlace& place) {
  const CipherInfo& row = info(cipher);
  return make_segment_session({.decrypt = true,
                               .key = {row.cipher, random_secret(row.key_bytes)},
                               .base_nonce = {{}, row.aead.nonce_bytes},
                               .place = place});
}

// Open parts --------------------------------------------------------------------------------------

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
  std::uint64_t input_offset(const PartPlace& part) const {
    return input_bytes + part.begin + part.number * std::uint64_t{frame_header_bytes};
  }

  // The following may be called from any thread.

  // Makes a part's segments available, unless they are. Returns false if the commitment does not match the
  // secret.
  bool open(const FrameHeader& header, const PartPlace& place) {
    const std::lock_guard lock(mutex_);
    if (parts_.contains(place.end)) return true;
    std::unique_ptr<Session> session = open_frame(
        secret, header,
        {.input_bytes = input_offset(place), .plaintext_bytes = place.plaintext, .part = place.number});
    if (!session) return false;
    add(place, std::move(session));
    return true;
  }

  bool is_open(const PartPlace& place) {
    const std::lock_guard lock(mutex_);
    return parts_.contains(place.end);
  }

  // If it cannot be opened: gives it a random key instead, with which no segment verifies. Its place includes
  // its frame header, so messages name where the lost part begins.
  void lose(const PartPlace& place) {
    const std::lock_guard lock(mutex_);
    if (parts_.contains(place.end)) return;
    add(place, make_useless_session(secret.cipher, {.input_bytes = input_offset(place) - frame_header_bytes,
                                                    .plaintext_bytes = place.plaintext,
                                                    .part = place.number}));
  }

  // The open part with the byte at `offset` of the body. Stays open until verified() has received all of it.
  Part& at(std::uint64_t offset) {
    const std::lock_guard lock(mutex_);
    return parts_.upper_bound(offset)->second;
  }

  void verified(Part& part, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    part.unverified -= bytes;
    if (part.unverified == 0) parts_.erase(part.place.end);
  }

  PartPlace last() const { return last_; }  // opened; for the thread that opens parts

 private:
  void add(const PartPlace& place, std::unique_ptr<Session> session) {
    parts_.emplace(place.end, Part{place, std::move(session), place.end - place.begin});
    last_ = place;
  }

  // Keys take locked memory, so a part is closed once all of its segments have been verified.
  std::mutex mutex_;
  std::map<std::uint64_t, Part> parts_;  // by the offset of the end in the body
  PartPlace last_;
};

// Parts in any order ------------------------------------------------------------------------------

// Parts that can be read in any order, because the index has been verified first.
class IndexedParts : public BodySource {
 public:
  IndexedParts(OpenParts& parts, FoundIndex index) : parts_(parts) {
    const auto commitment = index.header.commitment();
    parts_.commitment.assign(commitment.begin(), commitment.end());
    parts_.index.emplace(std::move(index.entries));
  }

  const PartsIndex* index() const override { return &*parts_.index; }
  std::uint64_t parallel_size() const override { return index()->body_bytes(); }
  std::size_t read(std::span<std::byte>) override { return 0; }
  bool ready(std::chrono::milliseconds) override { return true; }
  std::uint64_t message_end(std::uint64_t offset) override {
    return offset < parallel_size() ? index()->part_at(offset).end : offset;
  }

  // Missing bytes become zeros, which do not verify.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const PartPlace part = index()->part_at(offset);
    const Stored stored = find(part);
    if (!parts_.is_open(part))
      open_part(part, stored.size < stored.segments_at
                          ? std::nullopt
                          : read_frame_header(*stored.file, stored.segments_at - frame_header_bytes));
    const std::uint64_t at = std::min(stored.size, stored.segments_at + offset - part.begin);
    const auto present = static_cast<std::size_t>(std::min<std::uint64_t>(stored.size - at, out.size()));
    if (present > 0) stored.file->read_at(at, out.first(present));
    std::ranges::fill(out.subspan(present), std::byte{0});
  }

  std::size_t place_in_page(std::uint64_t offset) const override {
    const PartPlace part = index()->part_at(offset);
    const Stored stored = find(part);
    return stored.file ? stored.file->place_in_page(stored.segments_at + offset - part.begin) : 0;
  }

 protected:
  // Where a part is stored. Its segments follow its frame header.
  struct Stored {
    std::shared_ptr<const Source> file;  // null if it is missing
    std::uint64_t size = 0;              // of the file, in bytes
    std::uint64_t segments_at = frame_header_bytes;
  };

  // Opens a part with that frame header. If it does not match the index, throws AuthError or, when
  // salvaging, marks the part as lost. All parts must have been cut from one input, and so have the same
  // `of`.
  void open_part(const PartPlace& part, const std::optional<FrameHeader>& header) const {
    const auto matches_index = [&] {
      std::int64_t of = -1;
      const bool same_cut =
          parts_.of.compare_exchange_strong(of, header->of) || of == header->of || parts_.salvage;
      return same_cut && is_listed(*header, part.number, index()->entry(part.number), index()->count(),
                                   parts_.secret.cipher);
    };
    if (header && matches_index() && parts_.open(*header, part)) return;
    if (!parts_.salvage)
      refuse_parts(parts_.input_offset(part) - frame_header_bytes,
                   fmt::format("the header of part {}", part.number));
    parts_.lose(part);
  }

  OpenParts& parts_;

 private:
  virtual Stored find(const PartPlace& part) const = 0;
};

// Parts in one file are read in any order, once the index is verified.
class SeekableParts : public IndexedParts {
 public:
  SeekableParts(Source& input, std::uint64_t input_bytes, OpenParts& parts, FoundIndex index)
      : IndexedParts(parts, std::move(index)), input_(input), input_bytes_(input_bytes) {}

  void open_first(const FrameHeader& header) const { open_part(index()->place(0), header); }

  std::uint64_t framing_bytes() const override { return input_bytes_ - parallel_size(); }
  bool prepare_parallel() override { return input_.prepare_parallel(); }
  void skip_to(std::uint64_t offset) override {
    const PartPlace part = index()->part_at(offset);
    input_.skip_to(offset == parallel_size() ? input_bytes_ : find(part).segments_at + offset - part.begin);
  }

 private:
  // The header of part 0 precedes the source.
  Stored find(const PartPlace& part) const override {
    const std::uint64_t headers = part.number * std::uint64_t{frame_header_bytes};
    return {{std::shared_ptr<void>(), &input_}, input_bytes_, part.begin + headers};
  }

  Source& input_;
  std::uint64_t input_bytes_;
};

// More than the lanes read at the same time. Other parts can be opened again.
constexpr std::size_t max_open_files = 64;

// Parts in a directory, each opened when it is first read.
class DirectoryParts : public IndexedParts {
 public:
  DirectoryParts(const PartsDirectory& input, OpenParts& parts)
      : IndexedParts(parts, read_index_file(input.index, parts.secret)), input_(input) {}

  // Checks now that all files are there and have the sizes that the index states.
  void check_files() const {
    for (std::uint32_t number = 0; number < index()->count(); ++number) {
      input_.cancel.check();
      const std::optional<struct stat> status = input_.directory.status_of(part_name(number));
      check_size(number, status && S_ISREG(status->st_mode)
                             ? std::optional(static_cast<std::uint64_t>(status->st_size))
                             : std::nullopt);
    }
  }

  // The header of the index has been read with the head.
  std::uint64_t framing_bytes() const override {
    return input_.index.size().value_or(0) + (index()->count() - std::uint64_t{1}) * frame_header_bytes;
  }

  void skip_to(std::uint64_t offset) override { first_ = index()->part_at(offset).number; }

  // Whether most of the first part to be read is not in the page cache. Whether it is complete is checked
  // when it is read.
  bool prepare_parallel() override {
    std::optional<FdSource> first = input_.directory.open(part_name(first_), input_.cancel);
    return first && first->prepare_parallel();
  }

 private:
  using File = std::shared_ptr<FdSource>;  // null if the file is missing

  Stored find(const PartPlace& part) const override {
    const File file = open_file(part.number);
    return {file, file ? file->size().value_or(0) : 0};
  }

  void check_size(std::uint32_t number, std::optional<std::uint64_t> size) const {
    const std::string name = input_.directory.name_of(part_name(number));
    if (!size) throw AuthError(fmt::format("{} is missing", name));
    const std::uint64_t expected = frame_header_bytes + sealed_size(index()->entry(number).length);
    if (*size != expected) throw AuthError(fmt::format("{} has {} bytes, not {}", name, *size, expected));
  }

  File open_file(std::uint32_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(files_, number, &NumberedFile::first);
    if (found != files_.end()) return found->second;
    std::optional<FdSource> opened = open_instead_of_others(part_name(number));
    if (!parts_.salvage) check_size(number, opened ? opened->size() : std::nullopt);
    File file = opened ? std::make_shared<FdSource>(std::move(*opened)) : nullptr;
    if (file) file->prepare_parallel();  // reads data that is not in the page cache directly
    if (files_.size() == max_open_files) files_.pop_front();
    files_.emplace_back(number, file);
    return file;
  }

  // If descriptors are limited, closes files that no lane reads now.
  std::optional<FdSource> open_instead_of_others(const std::string& name) const {
    for (;;) {
      try {
        return input_.directory.open(name, input_.cancel);
      } catch (const IoError& error) {
        if (!error.lacks_resource() || files_.empty()) throw;
        files_.pop_front();
      }
    }
  }

  const PartsDirectory& input_;
  std::uint32_t first_ = 0;

  using NumberedFile = std::pair<std::uint32_t, File>;
  mutable std::mutex mutex_;
  mutable std::deque<NumberedFile> files_;  // the last ones opened
};

// Parts in order ----------------------------------------------------------------------------------

// Parts from a pipe are compared with the index at the end.
class StreamedParts : public BodySource {
 public:
  StreamedParts(Source& input, OpenParts& parts, const FrameHeader& first)
      : input_(input), parts_(parts), of_(first.of), at_(parts.input_bytes) {
    const PartPlace place{0, 0, sealed_size(first.length), 0};
    if (!is_part(first, 0, parts.secret.cipher) || !parts.open(first, place))
      refuse_message_header(at_ - frame_header_bytes);
    begin_part(first, place);
  }

  std::uint64_t framing_bytes() const override { return framing_bytes_; }
  bool ready(std::chrono::milliseconds patience) override { return input_.ready(patience); }

  std::size_t read(std::span<std::byte> out) override {
    const std::size_t count = read_some(out);
    if (count == 0) refuse_truncated(fmt::format("part {}", part_.number));
    return count;
  }

  std::uint64_t message_end(std::uint64_t offset) override {
    if (offset < part_.end) return part_.end;
    const std::uint64_t at = at_;
    std::array<std::byte, frame_header_bytes> bytes;
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
    if (!is_part(header, number, parts_.secret.cipher) || header.of != of_) return false;
    const PartPlace next{number, part_.end, part_.end + sealed_size(header.length),
                         part_.plaintext + length_};
    if (!parts_.open(header, next)) {
      if (!parts_.salvage) return false;
      parts_.lose(next);
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
    if (!is_index(header, parts) || (of_ != 0 && of_ != parts)) refuse_parts(at, "the header of the index");
    Sha512 listed;
    open_index(
        parts_.secret, header, at_, [this](auto out) { read_framing(out); },
        [&listed](auto entries) { listed.add(entries); });
    if (listed.finish() != digest_.finish()) refuse_parts(at, "the index, which lists other parts");
    const std::uint64_t count_at = at_;
    std::array<std::byte, part_count_bytes> count;
    read_framing(count);
    if (load_big_endian(count) != parts) refuse_parts(count_at, "the number of parts");
    std::byte beyond;
    if (read_some({&beyond, 1}) != 0)
      throw AuthError(fmt::format("the input has trailing bytes after byte {}", count_at + count.size()));
    parts_.commitment.assign(header.commitment().begin(), header.commitment().end());
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
  OpenParts& parts_;
  const std::uint32_t of_;
  std::uint64_t at_;  // in the input
  std::atomic<std::uint64_t> framing_bytes_ = 0;
  PartPlace part_;            // the last one begun
  std::uint64_t length_ = 0;  // of its plaintext
  Sha512 digest_;             // of the index that the parts so far should have: it may be 40 MiB long
};

std::unique_ptr<BodySource> make_seekable_parts(Source& input, std::uint64_t input_bytes, OpenParts& parts,
                                                const FrameHeader& first) {
  try {
    auto source = std::make_unique<SeekableParts>(
        input, input_bytes, parts,
        read_index(input, input_bytes, frame_header_bytes, parts.secret, parts.input_bytes));
    source->open_first(first);
    return source;
  } catch (AuthError& error) {
    error.append("; nothing was written");
    throw;
  }
}

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
                                              OpenParts& parts, const FrameHeader& first) {
  try {
    if (input_bytes) return make_seekable_parts(input, *input_bytes, parts, first);
  } catch (const AuthError&) {
    if (!parts.salvage) throw;
  }
  return std::make_unique<StreamedParts>(input, parts, first);
}

// The session -------------------------------------------------------------------------------------

class PartsSession : public Session {
 public:
  PartsSession(FrameSecret secret, const FrameHeader& first, std::uint64_t input_bytes, bool salvage)
      : parts_(std::move(secret), input_bytes, salvage),
        first_(first),
        for_nothing_(make_useless_session(cipher(), {})) {}

  std::unique_ptr<BodySource> open_source(const RestOfInput& rest) override {
    if (rest.directory == nullptr) return make_parts_source(rest.source, rest.size, parts_, first_);
    auto source = std::make_unique<DirectoryParts>(*rest.directory, parts_);
    if (rest.all && !parts_.salvage) source->check_files();
    return source;
  }

  std::span<const std::byte> commitment() const override { return parts_.commitment; }
  std::size_t unit_in() const override { return sealed_segment_bytes; }
  std::size_t unit_out() const override { return segment_bytes; }
  Cipher cipher() const override { return parts_.secret.cipher; }
  std::size_t output_size(std::size_t in_size, bool) const override { return opened_size(in_size); }

  std::uint64_t plaintext_before(std::uint64_t offset) const override {
    const PartPlace part = parts_.index ? parts_.index->part_at(offset) : parts_.last();
    const std::uint64_t whole = (offset - part.begin) / sealed_segment_bytes;
    const std::uint64_t last =
        offset < part.end ? 0 : opened_size((offset - part.begin) % sealed_segment_bytes);
    return part.plaintext + whole * segment_bytes + last;
  }

  Job job(const Piece& piece) const override {
    if (piece.in.empty()) return for_nothing_->job({0, piece.in, piece.out});
    const OpenParts::Part& part = parts_.at(piece.offset);
    return part.session->job(in_part(piece, part.place));
  }

  Outcome verify(const Piece& piece, std::optional<std::size_t> bad_segment) const override {
    if (piece.in.empty()) return {0, std::nullopt};
    OpenParts::Part& part = parts_.at(piece.offset);
    const Outcome outcome = part.session->verify(in_part(piece, part.place), bad_segment);
    parts_.verified(part, piece.in.size());
    return outcome;
  }

 private:
  mutable OpenParts parts_;
  const FrameHeader first_;

  // For empty pieces: the end of the stream, and pieces that could not be read.
  const std::unique_ptr<Session> for_nothing_;
};

}  // namespace

std::unique_ptr<Session> make_parts_session(FrameSecret secret, const FrameHeader& first,
                                            std::uint64_t input_bytes, bool salvage) {
  return std::make_unique<PartsSession>(std::move(secret), first, input_bytes, salvage);
}

}  // namespace gpuaes
