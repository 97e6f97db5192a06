// What a run shows of itself: details for -v, the figures of --stats and the timeline of --trace.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "cli/messages.hpp"
#include "io/cancel.hpp"
#include "io/source_sink.hpp"
#include "lane/plan.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/trace.hpp"
#include "run/open_stream.hpp"
#include "run/stats.hpp"

namespace gpuaes {

class Report {
 public:
  using Clock = std::chrono::steady_clock;

  // The run began at `start`. Either sink may be missing. The timeline counts from here on, and from here on
  // its file is complete JSON however the run ends: a run that fails earlier leaves an older file alone.
  Report(Clock::time_point start, std::unique_ptr<Sink> stats, std::unique_ptr<Sink> trace,
         const Messages& messages, Cancel& cancel);

  Trace* trace() { return trace_ ? &*trace_ : nullptr; }  // for the pipeline; nullptr if there is none

  void log_ring(const Ring& ring) const;
  void log_lanes(const LanePlan& plan) const;  // once its first lanes are open

  // The figures of a run that moved its whole stream. IoError for a file that cannot be written; only a
  // warning if the stream has an error of its own, which is worse.
  void finish(const OpenStream& stream, const Pipeline& pipeline, const Ring& ring);

 private:
  void write(const Stats& stats);

  Clock::time_point start_;
  std::unique_ptr<Sink> stats_;
  std::optional<Trace> trace_;
  const Messages& messages_;
};

}  // namespace gpuaes
