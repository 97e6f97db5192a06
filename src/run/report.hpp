// Reports about a run: details for -v, the figures of --stats and the timeline of --trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "files/conflicts.hpp"
#include "io/output_target.hpp"
#include "io/source_sink.hpp"
#include "lane/plan.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/trace.hpp"
#include "run/endpoints.hpp"
#include "run/open_stream.hpp"
#include "system/resources.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

// How many inputs there were.
struct InputCounts {
  std::uint64_t done = 0, skipped = 0, failed = 0;
};

// The sums of the figures of many inputs.
class TotalStats {
 public:
  // From any thread.
  void add(std::uint64_t bytes_in, std::uint64_t bytes_out, const std::vector<LaneStats>& lanes);

  // Writes them as JSON, and closes the sink. IoError.
  void write(Sink& sink, const InputCounts& inputs) const;

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;
  std::vector<LaneStats> lanes_;  // one for each name
};

// Opens the sinks of the files about the run. IoError, UsageError.
void open_reports(Endpoints& endpoints, const OutputTargets& targets, const Context& context);

// Opens a small file about the run, such as its statistics; null without a target. Unless `durable`, a power
// failure may lose it. IoError, UsageError.
std::unique_ptr<Sink> open_report(const std::optional<OutputTarget>& target, const Context& context,
                                  bool durable = true);

class Report {
 public:
  // The beginning of a run.
  struct Start {
    std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
    double cpu_seconds = gpuaes::cpu_seconds();
  };

  // Either sink may be null. The timeline begins here; from now on, however the run ends, its file is
  // complete JSON. A run that fails earlier leaves an existing file unchanged.
  Report(Start start, std::unique_ptr<Sink> stats, std::unique_ptr<Sink> trace, TotalStats* totals,
         const Context& context);

  Trace* trace() { return trace_ ? &*trace_ : nullptr; }  // for the pipeline; nullptr without --trace

  void log_ring(const Ring& ring) const;
  void log_lanes(const LanePlan& plan) const;  // after the first lanes have been opened

  // Writes the figures of a run that has processed its whole stream. IoError if a file cannot be written;
  // only a warning if the stream has an error of its own, which takes precedence. `library` is the
  // one that CPU lanes chose; may be empty.
  void finish(const OpenStream& stream, const Pipeline& pipeline, const Ring& ring,
              const std::string& library);

 private:
  Start start_;
  std::unique_ptr<Sink> stats_;
  std::optional<Trace> trace_;
  TotalStats* totals_;  // to which the figures of this run are added, or null
  const Messages& messages_;
};

}  // namespace gpuaes
