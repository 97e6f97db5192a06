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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/unicode.hpp"
#include "files/conflicts.hpp"
#include "lane/cpu_libraries.hpp"
#include "lane/plan.hpp"
#include "pipeline/pipeline.hpp"
#include "run/inputs.hpp"
#include "run/lane_pool.hpp"
#include "run/many_files.hpp"
#include "run/output_names.hpp"
#include "secrets/secret_file.hpp"
#include "secrets/secrets.hpp"
#include "terminal/context.hpp"

namespace gpuaes {
namespace {

void require_size(const StreamRequest& stream, const FdSource& source) {
  if (stream.selects() && !source.size())
    throw UsageError(fmt::format("{} requires a seekable input", option_for(stream.mode)),
                     "name a file with -i, or redirect standard input from a file");
}

// A single lane, which needs no other thread. Other threads have rings, too, so its chunks are not large.
LaneRequest lane_of_this_thread(const LaneRequest& lanes) {
  constexpr std::size_t max_chunk_bytes = 1 << 20;
  std::optional<std::size_t> chunk_bytes = lanes.chunk_bytes;
  if (chunk_bytes) chunk_bytes = std::min(*chunk_bytes, max_chunk_bytes);
  return {.choice = {.named = {{Backend::cpu, {}, 1}}, .low_cpu = false}, .chunk_bytes = chunk_bytes};
}

// Prints what a user should know about sealing for these secrets.
void note_secrets(const StreamRequest& stream, const Keyring& keyring, const OutputRequest& output,
                  const Messages& messages) {
  if (stream.decrypt) return;
  const Format& format = stream.format.named != nullptr ? *stream.format.named : format_to_write(keyring);
  warn_of_ending(output.file, format, messages);
  if (keyring.has_recipient() && keyring.find(KeyKind::key_file) != nullptr)
    messages.detail("the output is a sealed file, because a key file is given; age cannot open it");
  if (stream.note_sealed)
    messages.note("the output is a sealed file, which age cannot open; add -f age for one that it can open");
  if (const char* const warning = writer_warning(keyring, false)) messages.warning(warning);
}

// The file that is written.
std::optional<NamedFile> output_of(const FilterRequest& request) {
  const auto* const into = std::get_if<IntoFile>(&request.stream.mode);
  return into != nullptr ? into->file : request.output.file;
}

}  // namespace

void run_stream(const LaneRequest& lanes, Reports reports, OpenStream& stream, Progress& progress,
                const Context& context) {
  Workload workload = stream.workload(lanes.chunk_bytes);
  workload.from_disk = workload.parallel_bytes > 0 && stream.source().prepare_parallel();
  workload.to_disk = stream.sink().limited_by_disk();
  LanePlan plan = plan_lanes(lanes.choice, workload, this_machine(workload, lanes.choice));
  show_only_devices({plan.first, plan.joining, plan.later});
  Ring ring = make_ring(plan, stream.session());
  LaneSetup setup = lane_setup(ring, stream.session(), stream.in_place());
  setup.timed = reports.trace != nullptr;
  CpuLibraries libraries;
  setup.cpu_libraries = &libraries;
  Report report(std::move(reports), context);
  report.log_plan(ring, plan);
  const LanePool lane_pool(plan, setup, [&](auto lane) { return stream.wrap(std::move(lane)); });

  Pipeline pipeline({.ring = ring,
                     .source = stream.source(),
                     .sink = stream.sink(),
                     .session = stream.session(),
                     .cancel = context.cancel,
                     .fallback_lane = [&lane_pool] { return lane_pool.open_fallback(); },
                     .warn = context.messages.warner(),
                     .trace = report.trace()});
  for (std::unique_ptr<Lane>& lane : lane_pool.open_first(context.messages))
    pipeline.add_lane(std::move(lane));
  {
    const Progress::Watch watch(progress, context.messages.one_of_several(), stream.expected_bytes(), [&] {
      return Progress::Position{stream.header_bytes() + pipeline.bytes_in(), pipeline.active_lanes()};
    });
    stream.run([&] {
      const std::jthread opener = lane_pool.open_more(pipeline, context.messages);
      pipeline.run();
    });
  }
  const std::string warning = stream.input_warning(pipeline.bytes_in());
  if (!warning.empty()) context.messages.warning(warning);
  stream.sink().publish([&] { report.finish(stream, pipeline, ring, libraries.description()); });
  if (const std::optional<AuthError> error = stream.final_error()) throw *error;
}

Filter::Filter(const FilterRequest& request, Progress& progress, const Context& context)
    : request_(request), progress_(progress), context_(context), lanes_(request.lanes) {
  prepare_inputs(files_of(request.secrets, request.stream, request.inputs),
                 request.output.directory.has_value());
  // The plan of the first input is not that of all.
  if (request.inputs.several() || request.output.directory) show_only_devices({lanes_.choice.named});
  refuse_keys_as_inputs(request.inputs, context.cancel);
  keyring_ = read_secrets(request.secrets, context);
}

void Filter::run(const InputRequest& input, Endpoints& endpoints, Reports reports, const Context& context,
                 bool alone) {
  note_if_terminal(endpoints.source, context.messages);
  const std::unique_ptr<OpenStream> stream =
      open_stream(request_.stream, input, keyring_.copy(), endpoints, context);
  std::call_once(noted_, note_secrets, request_.stream, keyring_, request_.output, context_.messages);
  if (!request_.inputs.several()) keyring_ = {};  // wiped, as no further input needs it
  run_stream(alone ? lanes_ : lane_of_this_thread(lanes_), std::move(reports), *stream, progress_, context);
}

namespace {

// Has only the outputs that options name.
class FilterRun : public InputRun {
 public:
  FilterRun(const FilterRequest& request, Progress& progress, const Context& context)
      : request_(request),
        targets_(find_outputs(output_of(request), request.reports.stats, request.reports.trace)),
        filter_(request, progress, context) {
    if (request.stream.test) targets_.output.reset();
  }

  InputResult run(const InputRequest& input, const Context& context, bool alone) override {
    Endpoints endpoints = open_input(input, request_.stream.decrypt, context.cancel);
    if (request_.inputs.finds_names())
      refuse_secret_as_input(input.file, endpoints.source.status(),
                             files_of(request_.secrets, request_.stream));
    refuse_output_conflicts(files_of(request_.secrets, request_.stream, input), targets_);
    if (endpoints.directory) refuse_outputs_in(endpoints.directory->directory, targets_);
    require_size(request_.stream, endpoints.source);
    Reports reports;
    endpoints.output =
        open_output(request_.output, request_.stream, targets_.output, endpoints.source, context);
    reports.open(targets_, context);
    filter_.run(input, endpoints, std::move(reports), context, alone);
    return {request_.list_verified ? fmt::format("{}: ok\n", printable(input.file.shown())) : ""};
  }

 private:
  const FilterRequest& request_;
  OutputTargets targets_;
  Filter filter_;
};

}  // namespace

void run_filter(const FilterRequest& request, const Messages& messages) {
  RunControl control(messages);
  Progress progress(control.signals, messages, request.progress);
  const std::unique_ptr<InputRun> run = request.output.directory
                                            ? make_directory_run(request, progress, control.context)
                                            : std::make_unique<FilterRun>(request, progress, control.context);
  for_each_input(request.inputs, control.context, *run);
}

}  // namespace gpuaes
