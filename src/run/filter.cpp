// READ THIS FIRST. This file builds a run from its parts:
//
//     source -> [ ring of chunks ] -> sink        The pipeline moves chunks around the ring.
//                  |       ^                      A session, a format with its key, turns each chunk into a
//                session.job -> lane              job, and lanes run the jobs.
//
// The stream provides the source, the session and the sink. Declaration order is lifetime: each part is
// declared after the parts that it uses, and destroyed before them.

#include "run/filter.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/unicode.hpp"
#include "cli/program.hpp"
#include "lane/plan.hpp"
#include "pipeline/pipeline.hpp"
#include "run/file_conflicts.hpp"
#include "run/inputs.hpp"
#include "run/lane_pool.hpp"
#include "run/secrets.hpp"

namespace gpuaes {
namespace {

void filter(const Options& options, const OutputTargets& targets, Keyring keyring, Progress& progress,
            const Messages& messages, Cancel& cancel) {
  const Report::Start start;
  Endpoints endpoints = open_endpoints(options, targets, messages, cancel);
  const std::unique_ptr<OpenStream> stream =
      open_stream(options, std::move(keyring), endpoints, messages, cancel);
  run_stream(options, start, endpoints, *stream, progress, messages, cancel);
}

}  // namespace

void run_stream(const Options& options, Report::Start start, Endpoints& endpoints, OpenStream& stream,
                Progress& progress, const Messages& messages, Cancel& cancel) {
  Workload workload = stream.workload(options.chunk_bytes);
  workload.from_disk = workload.parallel_bytes > 0 && stream.source().prepare_parallel();
  LanePlan plan = plan_lanes(options.lanes, workload, this_machine(workload));
  for (std::vector<LaneSpec>* specs : {&plan.first, &plan.later}) show_only_named_devices(*specs);
  Ring ring = make_ring(plan, stream.session());
  LaneSetup setup = lane_setup(ring, stream.session(), stream.in_place());
  setup.timed = options.trace.has_value();
  Report report(start, std::move(endpoints.stats), std::move(endpoints.trace), messages, cancel);
  report.log_ring(ring);
  const LanePool lane_pool(plan, setup, [&](auto lane) { return stream.wrap(std::move(lane)); });

  Pipeline pipeline({.ring = ring,
                     .source = stream.source(),
                     .sink = stream.sink(),
                     .session = stream.session(),
                     .cancel = cancel,
                     .fallback_lane = [&lane_pool] { return lane_pool.open_fallback(); },
                     .warn = [&messages](const std::string& text) { messages.warning(text); },
                     .trace = report.trace()});
  report.log_lanes(plan);
  for (std::unique_ptr<Lane>& lane : lane_pool.open_first(messages)) pipeline.add_lane(std::move(lane));
  {
    const Progress::Watch watch(progress, stream.expected_bytes(), [&] {
      return Progress::Position{stream.header_bytes() + pipeline.bytes_in(), pipeline.active_lanes()};
    });
    stream.run([&] {
      const std::jthread opener = lane_pool.take_over(pipeline, messages);
      pipeline.run();
    });
  }
  const std::string warning = stream.input_warning(pipeline.bytes_in());
  if (!warning.empty()) messages.warning(warning);
  stream.sink().publish([&] { report.finish(stream, pipeline, ring); });
  if (const std::optional<AuthError> error = stream.final_error()) throw *error;
}

void run_filter(Options options, Messages& messages) {
  RunControl control(messages);
  Cancel& cancel = control.cancel;
  Progress progress(control.signals, messages, options.progress);
  const OutputTargets targets = find_outputs(options);
  refuse_input_conflicts(options);
  show_only_named_devices(options.lanes.named);
  const Keyring keyring = read_secrets(options, messages, cancel);
  for_each_input(options, messages, cancel, [&](const Options& one) {
    filter(one, targets, keyring.copy(), progress, messages, cancel);
    const Messages::Level from = options.several() ? Messages::Level::normal : Messages::Level::verbose;
    const bool printed = options.test && options.level >= from;
    return printed ? fmt::format("{}: ok\n", printable(shown_name(one.input()))) : "";
  });
}

}  // namespace gpuaes
