#include "format/parts/session.hpp"

#include <algorithm>
#include <utility>

#include "format/sessions.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

Piece in_part(const Piece& piece, const PartPlace& place) {
  return {piece.offset - place.begin, piece.in, piece.out, piece.last, piece.wanted_from};
}

}  // namespace

// The index ---------------------------------------------------------------------------------------

PartsIndex::PartsIndex(std::vector<IndexEntry> entries) : entries_(std::move(entries)) {
  begins_.reserve(entries_.size() + 1);
  plaintext_.reserve(entries_.size() + 1);
  std::uint64_t begin = 0, plaintext = 0;
  for (const IndexEntry& entry : entries_) {
    begins_.push_back(begin);
    plaintext_.push_back(plaintext);
    begin += sealed_size(entry.length);
    plaintext += entry.length;
  }
  begins_.push_back(begin);
  plaintext_.push_back(plaintext);
}

PartPlace PartsIndex::place(std::uint32_t number) const {
  return {number, begins_[number], begins_[number + 1], plaintext_[number]};
}

PartPlace PartsIndex::part_in(const std::vector<std::uint64_t>& begins, std::uint64_t offset) const {
  const auto next = std::upper_bound(begins.begin(), begins.end() - 1, offset);
  return place(static_cast<std::uint32_t>(next - begins.begin() - 1));
}

PartPlace PartsIndex::part_at(std::uint64_t offset) const {
  return part_in(begins_, offset);
}

PartPlace PartsIndex::part_with(std::uint64_t plaintext) const {
  return part_in(plaintext_, plaintext);
}

// The session -------------------------------------------------------------------------------------

PartsSession::PartsSession(FrameSecret secret, const FrameHeader& first, std::uint64_t input_bytes)
    : secret_(std::move(secret)),
      first_(first),
      input_bytes_(input_bytes),
      for_nothing_(make_useless_session({})) {}

std::unique_ptr<PartsSession> PartsSession::open(FrameSecret secret, const FrameHeader& first,
                                                 std::uint64_t input_bytes) {
  auto session = std::make_unique<PartsSession>(std::move(secret), first, input_bytes);
  const bool opened = session->open_part(first, {0, 0, sealed_size(first.length), 0});
  return opened ? std::move(session) : nullptr;
}

std::uint64_t PartsSession::input_offset(const PartPlace& part) const {
  return input_bytes_ + part.begin + part.number * std::uint64_t{frame_header_bytes};
}

bool PartsSession::open_part(const FrameHeader& header, const PartPlace& place) {
  const std::lock_guard lock(mutex_);
  if (open_.contains(place.end)) return true;
  std::unique_ptr<Session> session = open_frame(
      secret_, header,
      {.input_bytes = input_offset(place), .plaintext_bytes = place.plaintext, .part = place.number});
  if (!session) return false;
  add_part(place, std::move(session));
  return true;
}

// Its place includes its frame header, so that messages name the beginning of what is lost.
void PartsSession::lose_part(const PartPlace& place) {
  const std::lock_guard lock(mutex_);
  if (open_.contains(place.end)) return;
  add_part(place, make_useless_session({.input_bytes = input_offset(place) - frame_header_bytes,
                                        .plaintext_bytes = place.plaintext,
                                        .part = place.number}));
}

std::unique_ptr<Session> PartsSession::make_useless_session(const MessagePlace& place) const {
  const CipherInfo& row = info(cipher());
  return make_segment_session({.decrypt = true,
                               .key = {row.cipher, random_secret(row.key_bytes)},
                               .base_nonce = {{}, row.aead.nonce_bytes},
                               .header = {},
                               .place = place});
}

void PartsSession::add_part(const PartPlace& place, std::unique_ptr<Session> session) {
  open_.emplace(place.end, OpenPart{place, std::move(session), place.end - place.begin});
  last_ = place;
}

bool PartsSession::is_open(const PartPlace& place) const {
  const std::lock_guard lock(mutex_);
  return open_.contains(place.end);
}

const PartsSession::OpenPart& PartsSession::part_of(const Piece& piece) const {
  const std::lock_guard lock(mutex_);
  return open_.upper_bound(piece.offset)->second;
}

std::size_t PartsSession::output_size(std::size_t in_size, bool) const {
  return opened_size(in_size);
}

std::uint64_t PartsSession::plaintext_before(std::uint64_t offset) const {
  const PartPlace part = index_ ? index_->part_at(offset) : last_;
  const std::uint64_t whole = (offset - part.begin) / sealed_segment_bytes;
  const std::uint64_t last =
      offset < part.end ? 0 : opened_size((offset - part.begin) % sealed_segment_bytes);
  return part.plaintext + whole * segment_bytes + last;
}

std::uint64_t PartsSession::unit_with(std::uint64_t plaintext) const {
  const PartPlace part = index_.value().part_with(plaintext);
  return part.begin + (plaintext - part.plaintext) / segment_bytes * sealed_segment_bytes;
}

std::optional<std::uint64_t> PartsSession::plaintext_bytes() const {
  return index_ ? std::optional(index_->plaintext_bytes()) : std::nullopt;
}

Job PartsSession::job(const Piece& piece) const {
  if (piece.in.empty()) return for_nothing_->job({0, piece.in, piece.out});
  const OpenPart& part = part_of(piece);
  return part.session->job(in_part(piece, part.place));
}

Outcome PartsSession::verify(const Piece& piece, std::optional<std::size_t> bad_segment) const {
  if (piece.in.empty()) return {0, std::nullopt};
  const OpenPart& part = part_of(piece);
  Outcome outcome = part.session->verify(in_part(piece, part.place), bad_segment);
  const std::lock_guard lock(mutex_);
  OpenPart& open = open_.find(part.place.end)->second;
  open.unverified -= piece.in.size();
  if (open.unverified == 0) open_.erase(part.place.end);
  return outcome;
}

}  // namespace gpuaes
