#include "run/salvage_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "cipher/modes/segments.hpp"
#include "format/sessions.hpp"
#include "keys/secret.hpp"

namespace gpuaes {
namespace {

// The part of a decryption job with `count` segments from segment `first`.
Job part_of(const Job& job, std::size_t first, std::size_t count) {
  Job part = job;
  const std::size_t full = job.rules.plain_bytes, sealed_full = job.rules.sealed_bytes();
  const std::size_t at = first * full, sealed_at = first * sealed_full;
  part.in = job.in.subspan(sealed_at, std::min(count * sealed_full, job.in.size() - sealed_at));
  part.out = job.out.subspan(at, std::min(count * full, job.out.size() - at));
  part.first_segment += first;
  return part;
}

// A job's output must not overwrite its input: the input is needed again for the segments after a bad one.
class SalvageLane : public Lane {
 public:
  SalvageLane(std::unique_ptr<Lane> inner, Damage& damage) : inner_(std::move(inner)), damage_(damage) {}

  std::string name() const override { return inner_->name(); }
  std::span<const unsigned> cpus() const override { return inner_->cpus(); }

  // Opens the whole job first, which is enough if nothing is damaged. After a bad segment, opens one segment,
  // then twice as many after each success: a device opens all segments of a job even if the first is bad, and
  // retrying all the rest each time would take quadratic time.
  void start(const Job& job) override {
    const std::size_t count = count_segments(job);
    std::vector<Damage::Gap> lost;
    for (std::size_t at = 0, some = count; at < count;) {
      some = std::min(some, count - at);
      inner_->start(part_of(job, at, some));
      const std::optional<std::size_t> bad = inner_->finish();
      if (bad.value_or(some) > 0) damage_.add_verified();
      at += bad.value_or(some);
      some = bad ? 1 : 2 * some;
      if (!bad) continue;
      if (is_last(job, at)) {
        damage_.add_verified();
        damage_.set_end(end_of(job, at));
        break;  // what follows is not part of the stream
      }
      lost.push_back(lose(job, at++));
    }
    for (const Damage::Gap& gap : lost) damage_.add(gap);
  }

  std::optional<std::size_t> finish() override { return std::nullopt; }

 private:
  // Whether a segment that does not verify is the last one and full.
  bool is_last(const Job& job, std::size_t index) {
    Job last = part_of(job, index, 1);
    if (!job.rules.last_may_be_full() || last.in.size() < job.rules.sealed_bytes()) return false;
    last.ends_message = true;
    inner_->start(last);
    return !inner_->finish();
  }

  static Damage::End end_of(const Job& job, std::size_t index) {
    return {job.plaintext_offset + (index + 1) * job.rules.plain_bytes,
            job.input_offset + (index + 1) * job.rules.sealed_bytes()};
  }

  static Damage::Gap lose(const Job& job, std::size_t index) {
    const std::span<std::byte> plain = segment_to_open(job, index).plain;
    wipe(plain);
    const std::uint64_t begin = job.plaintext_offset + index * job.rules.plain_bytes;
    return {begin, begin + plain.size(), job.input_offset + index * job.rules.sealed_bytes(),
            plain.size() < job.rules.plain_bytes};
  }

  std::unique_ptr<Lane> inner_;
  Damage& damage_;
};

}  // namespace

void Damage::set_end(End end) {
  const std::lock_guard lock(mutex_);
  if (!end_ || end.input < end_->input) end_ = end;
}

std::optional<Damage::End> Damage::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

void Damage::add(Gap gap) {
  const std::lock_guard lock(mutex_);
  auto next = gaps_.upper_bound(gap.begin);
  if (next != gaps_.begin() && std::prev(next)->second.end >= gap.begin) --next;
  while (next != gaps_.end() && next->first <= gap.end) {
    const Gap& other = next->second;
    gap = {std::min(gap.begin, other.begin), std::max(gap.end, other.end),
           std::min(gap.input_offset, other.input_offset), gap.at_end || other.at_end};
    next = gaps_.erase(next);
  }
  gaps_.emplace_hint(next, gap.begin, gap);
}

std::vector<Damage::Gap> Damage::take_before(std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  std::vector<Gap> taken;
  while (!gaps_.empty() && gaps_.begin()->second.end < end) {
    taken.push_back(gaps_.begin()->second);
    gaps_.erase(gaps_.begin());
  }
  return taken;
}

std::vector<Damage::Gap> Damage::take_all() {
  return take_before(std::numeric_limits<std::uint64_t>::max());
}

std::unique_ptr<Lane> make_salvage_lane(std::unique_ptr<Lane> inner, Damage& damage) {
  return std::make_unique<SalvageLane>(std::move(inner), damage);
}

SalvageStream::SalvageStream(StreamParts parts, std::function<void(const std::string&)> warn)
    : OpenStream(std::move(parts)),
      warn_(std::move(warn)),
      source_(parts_.source),
      session_(*parts_.session),
      sink_(parts_.sink, *this) {
  if (!parts_.header_damage.empty()) warn_(parts_.header_damage);
}

std::unique_ptr<Lane> SalvageStream::wrap(std::unique_ptr<Lane> lane) {
  return make_salvage_lane(std::move(lane), damage_);
}

namespace {

AuthError lost_end(const std::string& lost) {
  return AuthError(fmt::format(
      "the input is truncated, its last segment is corrupt, or bytes were appended; {} are lost, and "
      "everything after them",
      lost));
}

}  // namespace

std::optional<AuthError> SalvageStream::final_error() const {
  const std::string lost =
      fmt::format("{} bytes of plaintext in {}", lost_bytes_, counted(gap_count_, "range"));
  std::optional<AuthError> truncated = damage_.end() ? std::nullopt : session_.truncated();
  if (source_.error())
    truncated = AuthError(fmt::format("{}; {} bytes of plaintext before that were verified",
                                      source_.error()->what(), sink_.written()));
  if (trailing_bytes() > 0)
    return AuthError(fmt::format("the stream ends at byte {}, but the input has {} trailing bytes{}",
                                 damage_.end()->input, trailing_bytes(),
                                 gap_count_ == 0 ? "" : "; " + lost + " are lost"));
  // A full segment that is lost at the end may have been the last one, or one before it.
  if (truncated && gap_count_ > 0 && session_.rules().last_may_be_full() && last_gap_end_ == sink_.written())
    return lost_end(lost);
  if (gap_count_ == 0 && !truncated && !parts_.header_damage.empty())
    return AuthError("the header is corrupt; all of the plaintext was verified");
  if (truncated && gap_count_ == 0)
    return AuthError(fmt::format("{}; nothing after that was recovered", truncated->what()));
  if (truncated)
    return AuthError(
        fmt::format("{}, except for {}; nothing after that was recovered", truncated->what(), lost));
  if (gap_count_ == 0) return std::nullopt;
  if (lost_end_) return lost_end(lost);
  return AuthError(fmt::format("the input is corrupt; {} are lost", lost));
}

std::uint64_t SalvageStream::trailing_bytes() const {
  const std::optional<Damage::End> end = damage_.end();
  return end ? parts_.header_bytes + session_.body_bytes() - end->input : 0;
}

void SalvageStream::report(const std::vector<Damage::Gap>& gaps) {
  const std::optional<Damage::End> end = damage_.end();
  for (const Damage::Gap& gap : gaps) {
    if (end && gap.begin >= end->plaintext) continue;
    const std::uint64_t size = gap.end - gap.begin;
    lost_bytes_ += size;
    last_gap_end_ = gap.end;
    ++gap_count_;
    // Only the last segment, or the index of a file made of parts, shows that the input is complete.
    lost_end_ = gap.at_end && parts_.parts == nullptr;
    if (lost_end_)
      warn_(
          fmt::format("the input is corrupt or truncated at byte {}; plaintext range {}:{} and "
                      "everything after it are lost",
                      gap.input_offset, gap.begin, size));
    else
      warn_(fmt::format("the input is corrupt at byte {}; plaintext range {}:{} is lost", gap.input_offset,
                        gap.begin, size));
  }
}

std::size_t SalvageStream::ForgivingSource::read(std::span<std::byte> out) {
  try {
    return inner_.read(out);
  } catch (const AuthError& error) {
    error_ = error;
    return 0;
  }
}

std::uint64_t SalvageStream::ForgivingSource::message_end(std::uint64_t offset) {
  try {
    return inner_.message_end(offset);
  } catch (const AuthError& error) {
    error_ = error;
    return offset;
  }
}

Outcome SalvageStream::ForgivingSession::verify(const Piece& piece,
                                                std::optional<std::size_t> bad_segment) const {
  Outcome outcome = whole_.verify(piece, bad_segment);
  const std::lock_guard lock(mutex_);
  body_bytes_ = std::max(body_bytes_, piece.offset + piece.in.size());
  if (outcome.error) {
    truncated_ = std::exchange(outcome.error, std::nullopt);
  }
  return outcome;
}

std::optional<AuthError> SalvageStream::ForgivingSession::truncated() const {
  const std::lock_guard lock(mutex_);
  return truncated_;
}

std::uint64_t SalvageStream::ForgivingSession::body_bytes() const {
  const std::lock_guard lock(mutex_);
  return body_bytes_;
}

// A gap that ends at the end of the output so far may still grow.
void SalvageStream::ReportingSink::write(std::span<const std::byte> bytes) {
  if (!salvage_.parts_.header_damage.empty() && !salvage_.damage_.any_verified()) {
    held_ += bytes.size();
    return;
  }
  for (static constexpr std::array<std::byte, 4096> zeros{}; held_ > 0;) {
    const std::size_t size = std::min<std::uint64_t>(held_, zeros.size());
    inner_.write(std::span(zeros).first(size));
    written_ += size;
    held_ -= size;
  }
  const std::optional<Damage::End> end = salvage_.damage_.end();
  if (end)
    bytes = bytes.first(
        std::min<std::uint64_t>(bytes.size(), end->plaintext - std::min(end->plaintext, written_)));
  inner_.write(bytes);
  written_ += bytes.size();
  salvage_.report(salvage_.damage_.take_before(written_));
}

void SalvageStream::ReportingSink::finish() {
  if (held_ > 0)
    throw AuthError("the header is corrupt, and the file key in it opens no segment; nothing was written");
  salvage_.report(salvage_.damage_.take_all());
  inner_.finish();
}

namespace {

// For a directory, whose header is in a file that is easily restored.
constexpr char index_hint[] =
    "if the index is damaged, read the parts without it: cat DIR/head DIR/part.* | gpuaes-stream --salvage";

// The cause of any error may be damage to the header.
std::unique_ptr<Session> open_session_to_salvage(const Format& format, SessionRequest request) {
  const char* const damage_hint = request.index_first ? index_hint : header_hint;
  try {
    return open_session(format, std::move(request));
  } catch (UnsuitableInput&) {
    throw;
  } catch (AuthError& error) {
    error.set_hint(damage_hint);
    throw;
  } catch (InputError& error) {
    error.set_hint(header_hint);
    throw;
  }
}

// Whether any segment of a body that begins at byte `at` of the file is authentic.
bool opens_segment(const Session& session, const FdSource& file, std::uint64_t at) {
  const std::uint64_t body_bytes = file.size().value() - at;
  Secret in(session.unit_in()), out(session.unit_out());
  for (std::uint64_t offset = 0; offset < body_bytes; offset += in.size()) {
    const auto part = in.bytes().first(std::min<std::uint64_t>(in.size(), body_bytes - offset));
    file.read_at(at + offset, part);
    const bool last = offset + in.size() >= body_bytes;
    const Outcome outcome =
        run_piece(session, {offset, part, out.bytes().first(session.output_size(part.size(), last)), last});
    if (outcome.released > 0 || !outcome.error) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<OpenStream> open_mode(const Salvage&, StreamOpening& opening) {
  const StreamRequest& stream = opening.stream;
  const Endpoints& endpoints = opening.endpoints;
  opening.require_authentication(opening.option);
  if (stream.header && !endpoints.source.size())
    throw UsageError("--salvage with --header requires a seekable input", "copy the input to a file first");
  std::string header_damage;
  const auto open = [&](const Format& format, SessionRequest request) {
    request.salvage = [&](const std::string& damage) { header_damage = damage; };
    if (endpoints.source.size())
      request.opens_segment = [&endpoints, &input = *request.input](const Session& session) {
        return opens_segment(session, endpoints.source, input.taken());
      };
    return open_session_to_salvage(format, std::move(request));
  };
  StreamParts parts = opening.parts(opening.session(open), endpoints.directory ? index_hint : "");
  if (!stream.test) parts.verb = "recovered";
  parts.header_damage = header_damage;
  const Messages& messages = opening.context.messages;
  return std::make_unique<SalvageStream>(
      std::move(parts), [&messages](const std::string& text) { messages.input_warning(text); });
}

}  // namespace gpuaes
