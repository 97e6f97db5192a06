#include "format/parts/session.hpp"

#include <utility>

#include "format/parts/directory.hpp"
#include "format/parts/source.hpp"
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
                               .header = {},
                               .place = place});
}

}  // namespace

// Open parts --------------------------------------------------------------------------------------

std::uint64_t OpenParts::input_offset(const PartPlace& part) const {
  return input_bytes + part.begin + part.number * std::uint64_t{frame_header_bytes};
}

bool OpenParts::open(const FrameHeader& header, const PartPlace& place) {
  const std::lock_guard lock(mutex_);
  if (parts_.contains(place.end)) return true;
  std::unique_ptr<Session> session = open_frame(
      secret, header,
      {.input_bytes = input_offset(place), .plaintext_bytes = place.plaintext, .part = place.number});
  if (!session) return false;
  add(place, std::move(session));
  return true;
}

// Its place includes its frame header. Messages then name where the lost part begins.
void OpenParts::lose(const PartPlace& place) {
  const std::lock_guard lock(mutex_);
  if (parts_.contains(place.end)) return;
  add(place, make_useless_session(secret.cipher, {.input_bytes = input_offset(place) - frame_header_bytes,
                                                  .plaintext_bytes = place.plaintext,
                                                  .part = place.number}));
}

void OpenParts::add(const PartPlace& place, std::unique_ptr<Session> session) {
  parts_.emplace(place.end, Part{place, std::move(session), place.end - place.begin});
  last_ = place;
}

bool OpenParts::is_open(const PartPlace& place) {
  const std::lock_guard lock(mutex_);
  return parts_.contains(place.end);
}

OpenParts::Part& OpenParts::at(std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  return parts_.upper_bound(offset)->second;
}

void OpenParts::verified(Part& part, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  part.unverified -= bytes;
  if (part.unverified == 0) parts_.erase(part.place.end);
}

// The session -------------------------------------------------------------------------------------

PartsSession::PartsSession(FrameSecret secret, const FrameHeader& first, std::uint64_t input_bytes,
                           bool salvage)
    : parts_(std::make_unique<OpenParts>(std::move(secret), input_bytes, salvage)),
      first_(first),
      for_nothing_(make_useless_session(cipher(), {})) {}

std::unique_ptr<BodySource> PartsSession::open_source(const RestOfInput& rest) {
  if (rest.directory != nullptr) return make_directory_parts(*rest.directory, *parts_, rest.all);
  return make_parts_source(rest.source, rest.size, *parts_, first_);
}

std::size_t PartsSession::output_size(std::size_t in_size, bool) const {
  return opened_size(in_size);
}

std::uint64_t PartsSession::plaintext_before(std::uint64_t offset) const {
  const PartPlace part = parts_->index ? parts_->index->part_at(offset) : parts_->last();
  const std::uint64_t whole = (offset - part.begin) / sealed_segment_bytes;
  const std::uint64_t last =
      offset < part.end ? 0 : opened_size((offset - part.begin) % sealed_segment_bytes);
  return part.plaintext + whole * segment_bytes + last;
}

Job PartsSession::job(const Piece& piece) const {
  if (piece.in.empty()) return for_nothing_->job({0, piece.in, piece.out});
  const OpenParts::Part& part = parts_->at(piece.offset);
  return part.session->job(in_part(piece, part.place));
}

Outcome PartsSession::verify(const Piece& piece, std::optional<std::size_t> bad_segment) const {
  if (piece.in.empty()) return {0, std::nullopt};
  OpenParts::Part& part = parts_->at(piece.offset);
  const Outcome outcome = part.session->verify(in_part(piece, part.place), bad_segment);
  parts_->verified(part, piece.in.size());
  return outcome;
}

}  // namespace gpuaes
