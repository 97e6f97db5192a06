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
#include "run/open_stream.hpp"
#include "system/resources.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

struct InputCounts;

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

// Opens a small file about the run, such as its statistics; null without a target. Unless `durable`, a power
// failure may lose it. IoError, UsageError.
std::unique_ptr<Sink> open_report(const std::optional<OutputTarget>& target, const Context& context,
                                  bool durable = true);

// What a run reports, and when it began.
struct Reports {
  std::unique_ptr<Sink> stats{}, trace{};  // null unless requested
  TotalStats* totals = nullptr;            // to which the figures of this run are added, or null
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  double start_cpu_seconds = cpu_seconds();

  // Opens the sinks. IoError, UsageError.
  void open(const OutputTargets& targets, const Context& context);
};

class Report {
 public:
  // The timeline begins here; from now on, however the run ends, its file is complete JSON. A run that fails
  // earlier leaves an existing file unchanged.
  Report(Reports reports, const Context& context);

  Trace* trace() { return trace_ ? &*trace_ : nullptr; }  // for the pipeline; nullptr without --trace

  void log_plan(const Ring& ring, const LanePlan& plan) const;

  // Writes the figures of a run that has processed its whole stream. IoError if a file cannot be written;
  // only a warning if the stream has an error of its own, which takes precedence. `library` is the
  // one that CPU lanes chose; may be empty.
  void finish(const OpenStream& stream, const Pipeline& pipeline, const Ring& ring,
              const std::string& library);

 private:
  Reports reports_;
  std::optional<Trace> trace_;
  const Messages& messages_;
};

}  // namespace gpuaes
