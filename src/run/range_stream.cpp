#include "run/range_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "format/parts/frames.hpp"
#include "format/sessions.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

std::uint64_t open_end(const Source& source, const Session& session, std::uint64_t body_bytes) {
  const bool may_be_full = session.rules().last_may_be_full() && body_bytes > 0;
  const std::uint64_t units =
      (may_be_full ? body_bytes - 1 : body_bytes) / session.unit_in();  // but the last
  const std::uint64_t offset = units * session.unit_in();
  Secret in_room(session.unit_in()), out_room(session.unit_out());
  const std::span<std::byte> in = in_room.bytes().first(static_cast<std::size_t>(body_bytes - offset));
  source.read_at(offset, in);
  const std::span<std::byte> out = out_room.bytes().first(session.output_size(in.size(), true));
  constexpr std::uint64_t nothing_wanted = std::numeric_limits<std::uint64_t>::max();
  const Outcome outcome = run_piece(session, {offset, in, out, true, nothing_wanted});
  if (outcome.error) throw *outcome.error;
  return units * session.unit_out() + out.size();
}

namespace {

// Where shares begin: several processes may write them to one file.
constexpr std::uint64_t share_unit = 1 << 20;

ByteRange part_in(const PartsIndex* index, std::uint32_t number) {
  if (index == nullptr)
    throw UnsuitableInput("the input is not made of parts", "use --share I/N to decrypt share I of N");
  if (number >= index->count())
    throw UsageError(fmt::format("the file has only {}", counted(index->count(), "part")),
                     "parts are numbered from 0");
  return {index->place(number).plaintext, index->entry(number).length};
}

ByteRange range_in(std::uint64_t plaintext, const PartsIndex* index, const Selection& selection) {
  if (const auto* range = std::get_if<ByteRange>(&selection)) return *range;
  if (const auto* part = std::get_if<PartNumber>(&selection)) return part_in(index, part->number);
  const ShareRange range = cut(plaintext, std::get<Share>(selection), share_unit);
  return {range.offset, range.length};
}

// The offset of the unit whose output begins at or before byte `plaintext`.
std::uint64_t unit_with(std::uint64_t plaintext, const Session& session, const PartsIndex* index) {
  const PartPlace part = index != nullptr ? index->part_with(plaintext) : PartPlace{};
  return part.begin + (plaintext - part.plaintext) / session.unit_out() * session.unit_in();
}

}  // namespace

// Windows -----------------------------------------------------------------------------------------

WindowSource::WindowSource(Source& whole, std::uint64_t begin, std::uint64_t size)
    : SourceWrapper(whole), begin_(begin), size_(size) {
  inner_.skip_to(begin_);
}

std::size_t WindowSource::read(std::span<std::byte> out) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - at_));
  if (wanted == 0) return 0;
  const std::size_t count = inner_.read(out.first(wanted));
  if (count == 0) throw IoError("the input shrank while it was being read");
  at_ += count;
  return count;
}

bool WindowSource::ready(std::chrono::milliseconds patience) {
  return at_ == size_ || inner_.ready(patience);
}

std::uint64_t WindowSource::parallel_size() const {
  return inner_.parallel_size() > 0 ? size_ : 0;
}

void WindowSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  inner_.read_at(begin_ + offset, out);
}

void WindowSource::skip_to(std::uint64_t offset) {
  inner_.skip_to(begin_ + offset);
  at_ = offset;
}

std::uint64_t WindowSource::message_end(std::uint64_t offset) {
  const std::uint64_t end = inner_.message_end(begin_ + offset);
  return end == unknown_end ? end : end - begin_;
}

WindowSink::WindowSink(Sink& inner, std::uint64_t skipped, std::uint64_t size)
    : SinkWrapper(inner), to_skip_(skipped), to_pass_(size) {}

void WindowSink::write(std::span<const std::byte> bytes) {
  const auto skip = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), to_skip_));
  to_skip_ -= skip;
  bytes = bytes.subspan(skip);
  const auto pass = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), to_pass_));
  if (pass == 0) return;
  inner_.write(bytes.first(pass));
  to_pass_ -= pass;
  passed_ += pass;
}

// The range ---------------------------------------------------------------------------------------

namespace {

// Locates a range in a body. `index` is the one of its source, or null. Without one, first opens the last
// unit: if the format has segments, this authenticates the length.
RangePlace find_range(const Selection& selection, Source& source, const Session& session,
                      std::uint64_t body_bytes, const PartsIndex* index) {
  const std::uint64_t plaintext =
      index != nullptr ? index->plaintext_bytes() : open_end(source, session, body_bytes);
  const ByteRange range = range_in(plaintext, index, selection);
  if (range.offset > plaintext || range.length.value_or(0) > plaintext - range.offset)
    throw UsageError(
        fmt::format("the range extends past the end of the plaintext, which has {} bytes", plaintext),
        range.offset <= plaintext ? "--range OFFSET: decrypts to the end" : "");
  RangePlace place{.whole_bytes = plaintext,
                   .plaintext_offset = range.offset,
                   .plaintext_bytes = range.length.value_or(plaintext - range.offset)};
  place.body_offset = unit_with(place.plaintext_offset, session, index);
  if (place.plaintext_bytes > 0) {
    const std::uint64_t last = unit_with(place.plaintext_offset + place.plaintext_bytes - 1, session, index);
    const std::uint64_t end = std::min({last + session.unit_in(), source.message_end(last), body_bytes});
    place.body_bytes = end - place.body_offset;
  }
  place.skipped_bytes = place.plaintext_offset - session.plaintext_before(place.body_offset);
  return place;
}

RangePlace place_of(const Selection& selection, const StreamParts& parts) {
  const PartsIndex* const index = parts.parts != nullptr ? parts.parts->index() : nullptr;
  return with_hint(parts.damage_hint, [&] {
    return find_range(selection, parts.source, *parts.session, parts.body_bytes.value(), index);
  });
}

}  // namespace

RangeStream::RangeStream(const Selection& selection, StreamParts parts)
    : OpenStream(std::move(parts)),
      place_(place_of(selection, parts_)),
      source_(parts_.source, place_.body_offset, place_.body_bytes),
      session_(*parts_.session, place_.body_offset, place_.plaintext_offset,
               place_.body_bytes > 0 && place_.body_offset + place_.body_bytes == parts_.body_bytes.value()),
      sink_(parts_.sink, place_.skipped_bytes, place_.plaintext_bytes) {}

SharedStream::SharedStream(const IntoFile& into, StreamParts parts, SharedOutput& output)
    : RangeStream(into.share, std::move(parts)), into_(into), output_(output) {}

void SharedStream::write_header() {
  constexpr std::size_t id_bytes = 16;
  const SharedOutput::Place shared{.id = to_hex(commitment().first(id_bytes)),
                                   .share = into_.share.number,
                                   .of = into_.share.of,
                                   .offset = place().plaintext_offset,
                                   .bytes = place().plaintext_bytes,
                                   .file_bytes = place().whole_bytes};
  into_.file.in_context([&] { output_.open(shared); });
}

std::unique_ptr<OpenStream> open_mode(const Selection& selection, StreamOpening& opening) {
  opening.require(opening.format.accepts.range, opening.option, formats_that_accept(&Accepts::range));
  return std::make_unique<RangeStream>(selection, opening.parts(opening.session()));
}

std::unique_ptr<OpenStream> open_mode(const IntoFile& into, StreamOpening& opening) {
  opening.require(opening.format.accepts.range, opening.option, formats_that_accept(&Accepts::range));
  opening.require(opening.format.authenticated, "--into", authenticated_formats());
  std::unique_ptr<Session> session = opening.session();
  const Messages& messages = opening.context.messages;
  std::unique_ptr<SharedOutput> output = SharedOutput::make(
      into.file.name, uncached_plaintext_bytes(), opening.context.cancel,
      {.note = [&messages](const std::string& text) { messages.note(text); }, .warn = messages.warner()});
  SharedOutput& shared = *output;
  opening.endpoints.output = std::move(output);
  return std::make_unique<SharedStream>(into, opening.parts(std::move(session)), shared);
}

}  // namespace gpuaes
