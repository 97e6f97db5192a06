// The timeline of a run in Chrome's trace event format: JSON that Perfetto and chrome://tracing open.
//
// Events go into a buffer, and from there to the file when it is full, so memory stays constant. However the
// run ends, the file becomes whole JSON of what happened until then. A file that cannot be written loses the
// trace and never harms the run: finish() tells of it in the end.
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
  // Times are counted from here on.
  Trace(std::unique_ptr<Sink> sink, Cancel& cancel);
  ~Trace();  // closes the file, if it can within half a second: after a request to stop there is no more time
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Closes the file. IoError when it could not be written, now or before.
  void finish();

 private:
  friend class LaneTracks;
  unsigned add_tracks(std::size_t count);
  void name_track(unsigned track, const std::string& name) noexcept;
  void add(unsigned track, const Phase& span, const Chunk* chunk) noexcept;
  template <class Append>
  void add_event(Append append) noexcept;
  void flush();
  void close();
  void fail() noexcept;

  Cancel& cancel_;
  const pid_t process_ = getpid();
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

  std::mutex mutex_;            // for what follows
  std::unique_ptr<Sink> sink_;  // none once all is written
  std::string buffer_;
  std::size_t flushed_ = 0;  // so much of it is in the file
  bool ended_ = false;       // the buffer has the end of the JSON in it
  std::exception_ptr failure_;
  unsigned tracks_ = 0;
};

// What a lane writes into a trace: a track for its thread, and one for each job that may be under way where
// the lane tells their phases, since phases of two jobs overlap. Used by the lane's thread.
class LaneTracks {
 public:
  LaneTracks() = default;  // there is no trace: nothing is written
  LaneTracks(Trace& trace, const Lane& lane, std::size_t number);

  void add(const Phase& span, const Chunk* chunk) const {
    if (trace_ != nullptr) trace_->add(first_, span, chunk);
  }
  bool wanted() const { return trace_ != nullptr; }
  void add_job(std::span<const Phase> phases, const Chunk& chunk) {
    if (trace_ != nullptr && !phases.empty()) add_phases(phases, chunk);
  }

 private:
  void add_phases(std::span<const Phase> phases, const Chunk& chunk);

  Trace* trace_ = nullptr;
  std::string name_;
  unsigned first_ = 0;  // the thread's track; those of jobs come behind it
  std::size_t depth_ = 0;
  std::uint64_t jobs_ = 0;  // with phases, so far
};

// A piece of a thread's time with a chunk that it holds: a range for profilers, an event of the trace, and
// seconds to be added to a figure. Where neither of these is wanted the clock is not looked at.
class Span {
 public:
  Span(const char* name, const LaneTracks& tracks, const Chunk& chunk, double* seconds = nullptr);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  void discard() { timed_ = false; }  // it came to nothing

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
