#include "run/salvage_stream.hpp"

#include <fmt/format.h>

#include <utility>

#include "cipher/job.hpp"

namespace gpuaes {

SalvageStream::SalvageStream(StreamParts parts, std::function<void(const std::string&)> warn)
    : OpenStream(std::move(parts)),
      warn_(std::move(warn)),
      session_(*parts_.session),
      sink_(parts_.sink, *this) {}

std::unique_ptr<Lane> SalvageStream::wrap(std::unique_ptr<Lane> lane) {
  return make_salvage_lane(std::move(lane), damage_);
}

std::optional<AuthError> SalvageStream::final_error() const {
  const std::string lost =
      fmt::format("{} bytes of plaintext in {} range{}", lost_bytes_, gap_count_, gap_count_ == 1 ? "" : "s");
  const std::optional<AuthError> truncated = session_.truncated();
  if (gap_count_ == 0) return truncated;
  if (truncated) return AuthError(fmt::format("{}, except for {}", truncated->what(), lost));
  return AuthError(fmt::format("the input is corrupt; {} are lost", lost));
}

void SalvageStream::report(const std::vector<Damage::Gap>& gaps) {
  for (const auto [begin, end] : gaps) {
    warn_(fmt::format("the input is corrupt at byte {}; plaintext range {}:{} is lost",
                      header_bytes() + begin / segment_bytes * sealed_segment_bytes, begin, end - begin));
    lost_bytes_ += end - begin;
    ++gap_count_;
  }
}

Outcome SalvageStream::ForgivingSession::verify(const Piece& piece, bool last,
                                                std::optional<std::size_t> bad_segment) const {
  Outcome outcome = whole_.verify(piece, last, bad_segment);
  if (outcome.error) {
    const std::lock_guard lock(mutex_);
    truncated_ = std::exchange(outcome.error, std::nullopt);
  }
  return outcome;
}

std::optional<AuthError> SalvageStream::ForgivingSession::truncated() const {
  const std::lock_guard lock(mutex_);
  return truncated_;
}

// A gap that ends at the end of the output so far may still grow.
void SalvageStream::ReportingSink::write(std::span<const std::byte> bytes) {
  inner_.write(bytes);
  written_ += bytes.size();
  salvage_.report(salvage_.damage_.take_before(written_));
}

void SalvageStream::ReportingSink::finish() {
  salvage_.report(salvage_.damage_.take_all());
  inner_.finish();
}

}  // namespace gpuaes
