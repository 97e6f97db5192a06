// The timeline of a run in Chrome's trace event format: JSON that Perfetto and chrome://tracing can open.
//
// Events are buffered and written when the buffer is full, so memory use is constant. However the run ends,
// the file is valid JSON with all events so far. If the file cannot be written, the run continues without a
// trace, and finish() reports the error.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "io/cancel.hpp"
#include "io/source_sink.hpp"
#include "lane/lane.hpp"
#include "pipeline/ring.hpp"
#include "system/profiler_range.hpp"

namespace gpuaes {

class Trace {
 public:
  // Times are relative to construction.
  Trace(std::unique_ptr<Sink> sink, Cancel& cancel);
  ~Trace();  // closes the file, but waits for at most half a second: the program may have been asked to stop
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Closes the file. IoError if writing it failed, now or earlier.
  void finish();

 private:
  friend class LaneTracks;
  unsigned add_tracks(std::size_t count);
  void name_track(unsigned track, const std::string& name) noexcept;
  void add(unsigned track, const Phase& span, const Chunk* chunk) noexcept;
  template <class Format>
  void add_event(Format format) noexcept;
  void flush();
  void close();
  void fail() noexcept;

  Cancel& cancel_;
  const pid_t process_ = getpid();
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

  std::mutex mutex_;            // guards all members below
  std::unique_ptr<Sink> sink_;  // null once everything is written
  std::string buffer_;
  std::size_t flushed_ = 0;  // bytes of buffer_ that are in the file
  bool ended_ = false;       // buffer_ has the end of the JSON
  std::exception_ptr failure_;
  unsigned tracks_ = 0;
};

// A lane's tracks in a trace: one for its thread, and one for each job in flight if the lane reports phases,
// because the phases of two jobs overlap. Used by the lane's thread.
class LaneTracks {
 public:
  LaneTracks() = default;  // without a trace: writes nothing
  LaneTracks(Trace& trace, const Lane& lane, std::size_t number);

  void add(const Phase& span, const Chunk* chunk) const {
    if (trace_ != nullptr) trace_->add(first_, span, chunk);
  }
  bool enabled() const { return trace_ != nullptr; }
  void add_job(std::span<const Phase> phases, const Chunk& chunk) {
    if (trace_ != nullptr && !phases.empty()) add_phases(phases, chunk);
  }

 private:
  void add_phases(std::span<const Phase> phases, const Chunk& chunk);

  Trace* trace_ = nullptr;
  std::string name_;
  unsigned first_ = 0;  // the thread's track, followed by those of jobs
  std::size_t depth_ = 0;
  std::uint64_t jobs_ = 0;  // number of jobs with phases
};

// A span of time that a thread spends on a chunk: a range for profilers, an event in the trace, and seconds
// added to a total. Reads the clock only for the latter two.
class Span {
 public:
  Span(const char* name, const LaneTracks& tracks, const Chunk& chunk, double* seconds = nullptr);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  void discard() { timed_ = false; }  // leaves no event and adds no time

 private:
  const char* name_;
  const LaneTracks& tracks_;
  const Chunk& chunk_;
  double* seconds_;
  const ProfilerRange range_;
  bool timed_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace gpuaes
