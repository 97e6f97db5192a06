// READ THIS FIRST. A run is built from its parts here, and joined:
//
//     source -> [ ring of chunks ] -> sink        the pipeline moves chunks round the ring,
//                  |       ^                      a session (a format with its key) says what each one needs,
//                session.job -> lane              and lanes do it
//
// The order of declaration is lifetime: what is used by others stands before them and goes after them.

#include "filter.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "format/format.hpp"
#include "io/control.hpp"
#include "io/fd.hpp"
#include "io/output_file.hpp"
#include "lane/plan.hpp"
#include "lane/tuning.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/ring_plan.hpp"
#include "pipeline/trace.hpp"
#include "progress.hpp"
#include "secrets.hpp"
#include "stats.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

// Without -f: sealed; to decrypt, what the input begins with.
const Format& choose_format(const Options& options, HeaderReader& input) {
  if (options.format) return find_format(*options.format);
  if (options.iv || options.context)
    throw UsageError("--iv and --context go with a format that is named",
                     "-f raw takes --iv, -f cobblestone takes --context");
  return options.decrypt ? detect_format(input) : find_format("sealed");
}

SessionRequest make_request(const Options& options, Secrets& secrets, HeaderReader& input, Cancel& cancel) {
  SessionRequest request;
  request.decrypt = options.decrypt;
  request.cipher = options.cipher;
  request.keys = std::move(secrets.keys);
  request.passphrase = std::move(secrets.passphrase);
  request.iv = options.iv;
  request.context = options.context;
  request.iterations = options.iterations;
  request.input = &input;
  request.check = [&cancel] { cancel.check(); };
  return request;
}

SinkRules output_rules(const Options& options, std::span<const struct stat> in_use) {
  using Terminal = SinkRules::Terminal;
  const Terminal unforced = options.decrypt ? Terminal::text : Terminal::nothing;
  return {.terminal = options.force ? Terminal::everything : unforced, .in_use = in_use};
}

// Before anybody wonders why nothing happens.
void say_what_is_awaited(const Options& options, const Messages& messages) {
  if (!options.input && isatty(STDIN_FILENO) != 0)
    messages.note("reading standard input from the terminal: ^D at the beginning of a line ends it");
}

// A file says itself how long it is; what --size says is for all else.
std::optional<std::uint64_t> expected_size(const Options& options, const FdSource& source) {
  return source.size() > 0 ? source.size() : options.size;
}

void refuse_same_outputs(const Options& options) {
  if (options.stats && is_same_output(*options.stats, options.output))
    throw UsageError("--stats names the file that the output goes to");
  if (options.trace && is_same_output(*options.trace, options.output))
    throw UsageError("--trace names the file that the output goes to");
  if (options.trace && options.stats && is_same_output(*options.trace, options.stats))
    throw UsageError("--trace and --stats name the same file");
}

// What gpuaes-bench sweep found best on the devices that are here.
Tuning find_tuning(const Messages& messages) {
  const std::optional<std::string> model = nvidia_model();
  if (!model) return {};
  const std::optional<Tuning> found =
      read_tuning(*model, [&](const std::string& text) { messages.warning(text); });
  if (!found) return {};
  messages.detail(fmt::format("tuning file {}: threads {}, blocks per thread {}, streams {}",
                              *tuning_file(*model), found->threads, found->blocks_per_thread,
                              found->streams));
  return *found;
}

RingStats ring_stats(const Ring& ring) {
  const auto [reader, writer] = ring.waits();
  return {ring.chunks(), std::min(ring.in_bytes(), ring.out_bytes()), reader, writer};
}

std::string describe_bytes(std::size_t bytes) {
  if (bytes >= 10 << 20 || bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 10 << 10 || bytes % (1 << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

std::string describe(const std::vector<LaneSpec>& specs) {
  std::string text;
  for (const LaneSpec& spec : specs) text.append(text.empty() ? "" : "+").append(to_string(spec));
  return text;
}

// Whether so many bytes of input have been done before the run ends.
bool await_bytes(const Pipeline& pipeline, std::uint64_t bytes, const std::stop_token& end) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any called;
  while (pipeline.bytes_in() < bytes && !end.stop_requested())
    called.wait_for(lock, end, std::chrono::milliseconds(20), [] { return false; });
  return !end.stop_requested();
}

// Opens the later lanes when it is time, and they take over. Where they cannot open the first ones go on:
// nobody asked for these by name.
void take_over(Pipeline& pipeline, const LanePlan& plan, const LaneSetup& setup, const Messages& messages,
               const std::stop_token& end) {
  if (plan.later_from > 0 && !await_bytes(pipeline, plan.later_from, end)) return;
  try {
    pipeline.replace_lanes(open_lanes(plan.later, setup));
    messages.detail("lanes " + describe(plan.later) + " take over");
  } catch (const std::exception& error) {
    messages.detail(fmt::format("no other lanes take over: {}", error.what()));
  }
}

}  // namespace

void run_filter(const Options& options, const Messages& messages) {
  const Clock::time_point start = Clock::now();
  Cancel cancel;
  const Control control(cancel);
  Progress progress(control, messages, options.progress && options.level != Messages::Level::quiet);
  std::vector<LaneSpec> lanes = parse_lanes(options.lanes);
  const CudaKernel kernel = parse_cuda_kernel(options.kernel);

  Secrets secrets = read_secrets(options, messages, cancel);
  FdSource source = open_source(options.input, cancel);
  for (const struct stat& status : secrets.read_whole)
    if (is_same_stream(status, source.status()))
      throw UsageError("a key and the input come from the same pipe, which the key has read to its end");
  std::vector<struct stat> in_use = std::move(secrets.files);
  in_use.push_back(source.status());
  refuse_same_outputs(options);
  const std::unique_ptr<Sink> sink = open_sink(options.output, output_rules(options, in_use), cancel);
  std::unique_ptr<Sink> stats_sink;
  if (options.stats) stats_sink = open_sink(options.stats, {.in_use = in_use}, cancel);
  std::unique_ptr<Sink> trace_sink;
  if (options.trace) trace_sink = open_sink(options.trace, {.in_use = in_use, .durable = false}, cancel);

  const std::optional<std::uint64_t> size = expected_size(options, source);
  say_what_is_awaited(options, messages);
  HeaderReader input([&source](std::span<std::byte> out) { return source.read(out); });
  const Format& format = choose_format(options, input);
  const std::unique_ptr<Session> session =
      open_session(format, make_request(options, secrets, input, cancel));
  source.begin_here();
  if (!format.authenticated)
    messages.warning(fmt::format("{} format is not authenticated: nobody notices when its bytes are changed",
                                 format.name));

  const RunShape shape{.shared_bytes = source.shared_size(),
                       .authenticated = format.authenticated,
                       .cipher = session->cipher(),
                       .chunk_bytes = options.chunk_bytes};
  Machine machine = this_machine(shape);
  machine.tuning = [&messages] { return find_tuning(messages); };
  LanePlan plan = plan_lanes(std::move(lanes), shape, machine);
  for (std::vector<LaneSpec>* specs : {&plan.first, &plan.later}) show_only_named_devices(*specs);
  source.shared_by(static_cast<unsigned>(plan.jobs));
  Ring ring = make_ring(plan, *session);
  messages.detail(fmt::format("ring {} chunks of {}, {} in all", ring.chunks(),
                              describe_bytes(ring.in_bytes()), describe_bytes(ring.memory().size())));
  std::optional<Trace> trace;
  if (trace_sink) trace.emplace(std::move(trace_sink), cancel);
  LaneSetup setup = lane_setup(ring, source, *session);
  setup.timed = trace.has_value();
  setup.kernel = kernel;
  if (kernel == default_cuda_kernel) setup.shape = {plan.tuning.threads, plan.tuning.blocks_per_thread};
  Pipeline pipeline({.ring = ring,
                     .source = source,
                     .sink = *sink,
                     .session = *session,
                     .cancel = cancel,
                     .spare_lane = make_cpu_lane,
                     .warn = [&messages](const std::string& text) { messages.warning(text); },
                     .trace = trace ? &*trace : nullptr});
  for (std::unique_ptr<Lane>& lane : open_lanes(plan.first, setup)) pipeline.add_lane(std::move(lane));
  messages.detail("lanes " + describe(plan.first) + (plan.reason.empty() ? "" : " (" + plan.reason + ")"));
  std::jthread opener;
  if (!plan.later.empty())
    opener =
        std::jthread([&](const std::stop_token& end) { take_over(pipeline, plan, setup, messages, end); });
  // Ciphertext has a size that is known; plaintext may be made smaller by its file system.
  if (!options.decrypt && shape.shared_bytes > 0)
    sink->expect(session->header().size() + session->output_size(shape.shared_bytes, true));
  const auto position = [&pipeline, header = input.taken()] {
    return Progress::Position{header + pipeline.bytes_in(), pipeline.lanes_at_work()};
  };
  {
    const Progress::Watch watch(progress, size, position);
    sink->write(session->header());
    pipeline.run();
    opener = {};
    sink->finish();
  }

  const Stats stats{input.taken() + pipeline.bytes_in(), session->header().size() + pipeline.bytes_out(),
                    std::chrono::duration<double>(Clock::now() - start).count(), pipeline.lane_stats(),
                    ring_stats(ring)};
  if (stats_sink) {
    const std::string json = to_json(stats);
    stats_sink->write(std::as_bytes(std::span(json)));
    stats_sink->finish();
  }
  if (trace) trace->finish();
  messages.detail(summary(stats));
}

}  // namespace gpuaes
