// --salvage: decrypts the undamaged parts of a stream, with zeros in place of the rest.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/source_sink.hpp"
#include "lane/lane.hpp"
#include "run/open_stream.hpp"

namespace gpuaes {

inline constexpr char header_hint[] = "if the header is damaged, put back a copy of it (gpuaes-recipes(7))";

// The lost ranges of a plaintext, and its end, which lanes find in any order and on any thread.
class Damage {
 public:
  // A full segment that is marked as the last one ends here: offsets in the plaintext and in the input.
  struct End {
    std::uint64_t plaintext, input;
  };
  struct Gap {
    std::uint64_t begin, end;    // bytes of plaintext; equal if an empty segment is lost
    std::uint64_t input_offset;  // of the damage, in the input
    bool at_end = false;         // whether it contains a short segment, which ends a message
    bool operator==(const Gap&) const = default;
  };

  void add_verified() { any_verified_ = true; }
  bool any_verified() const { return any_verified_; }  // whether the tag of any segment was right

  void set_end(End end);
  std::optional<End> end() const;

  // Merges gaps that touch or overlap: a lane may find a gap that another lane found before it failed.
  void add(Gap gap);

  // Removes and returns the gaps that end before byte `end`, in order. Call it once no lane can find another
  // gap before `end`. This keeps the number of gaps in memory bounded by the work in progress.
  std::vector<Gap> take_before(std::uint64_t end);

  // Removes and returns the remaining gaps, in order.
  std::vector<Gap> take_all();

 private:
  std::atomic<bool> any_verified_ = false;
  mutable std::mutex mutex_;
  std::optional<End> end_;
  std::map<std::uint64_t, Gap> gaps_;  // by their beginnings; no two touch
};

// Runs jobs on `inner`, one at a time, and never reports a bad segment. After each job, adds the ranges
// filled with zeros to `damage`, which must outlive the lane.
std::unique_ptr<Lane> make_salvage_lane(std::unique_ptr<Lane> inner, Damage& damage);

// A stream to decrypt that reports damage as an error only at the end (final_error()). Its lanes must be
// wrapped.
class SalvageStream : public OpenStream {
 public:
  // `warn` receives a message for each gap, in stream order, after that part of the output has been written.
  SalvageStream(StreamParts parts, std::function<void(const std::string&)> warn);

  Source& source() override { return source_; }
  const Session& session() const override { return session_; }
  Sink& sink() override { return sink_; }

  // Wrapped lanes need their input until the job is done, even if the source is a file.
  bool in_place() override { return false; }
  std::unique_ptr<Lane> wrap(std::unique_ptr<Lane> lane) override;

  std::optional<AuthError> final_error() const override;

  // Without the zeros in place of lost bytes.
  std::uint64_t plain_bytes(std::uint64_t, std::uint64_t) const override {
    return sink_.written() - std::min(lost_bytes_, sink_.written());
  }

 private:
  // The source of the stream, which ends where it can no longer be read because of damage between parts.
  class ForgivingSource : public SourceWrapper {
   public:
    using SourceWrapper::SourceWrapper;
    std::size_t read(std::span<std::byte> out) override;
    std::uint64_t message_end(std::uint64_t offset) override;

    const std::optional<AuthError>& error() const { return error_; }  // after the run

   private:
    std::optional<AuthError> error_;
  };

  // The session of the stream, except that truncated input is not an error.
  class ForgivingSession : public SessionWrapper {
   public:
    using SessionWrapper::SessionWrapper;
    Outcome verify(const Piece& piece, std::optional<std::size_t> bad_segment) const override;
    std::optional<AuthError> truncated() const;
    std::uint64_t body_bytes() const;  // read so far

   private:
    mutable std::mutex mutex_;
    mutable std::optional<AuthError> truncated_;
    mutable std::uint64_t body_bytes_ = 0;
  };

  // Passes output to the sink of the stream, up to the end of the stream, then reports the damage in it. With
  // a damaged header, writes nothing until a segment shows that the key is right.
  class ReportingSink : public SinkWrapper {
   public:
    ReportingSink(Sink& inner, SalvageStream& salvage) : SinkWrapper(inner), salvage_(salvage) {}
    void write(std::span<const std::byte> bytes) override;
    void finish() override;
    std::uint64_t written() const noexcept { return written_; }

   private:
    SalvageStream& salvage_;
    std::uint64_t written_ = 0;
    std::uint64_t held_ = 0;  // zeros that are not written yet
  };

  void report(const std::vector<Damage::Gap>& gaps);
  std::uint64_t trailing_bytes() const;  // of the input, after the end of the stream

  std::function<void(const std::string&)> warn_;
  Damage damage_;
  std::uint64_t lost_bytes_ = 0;
  std::uint64_t gap_count_ = 0;
  bool lost_end_ = false;
  std::uint64_t last_gap_end_ = 0;
  ForgivingSource source_;
  ForgivingSession session_;
  ReportingSink sink_;
};

std::unique_ptr<OpenStream> open_mode(const Salvage&, StreamOpening& opening);

}  // namespace gpuaes
