// READ THIS FIRST. A run is built from its parts here, and joined:
//
//     source -> [ ring of chunks ] -> sink        the pipeline moves chunks round the ring,
//                  |       ^                      a session (a format with its key) says what each one needs,
//                session.job -> lane              and lanes do it
//
// The order of declaration is lifetime: what is used by others stands before them and goes after them.

#include "run/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/texts.hpp"
#include "cli/progress.hpp"
#include "format/format.hpp"
#include "io/control.hpp"
#include "lane/plan.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/ring_plan.hpp"
#include "pipeline/trace.hpp"
#include "run/endpoints.hpp"
#include "run/inputs.hpp"
#include "run/lane_pool.hpp"
#include "run/range_stream.hpp"
#include "run/salvage_stream.hpp"
#include "run/secrets.hpp"
#include "run/stats.hpp"
#include "run/stream.hpp"
#include "system/tuning.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

// Without -f: sealed; to decrypt, the authenticated format that the input begins with.
const Format& choose_format(const Options& options, HeaderReader& input) {
  if (options.format) return find_format(*options.format);
  if (options.iv || options.context)
    throw UsageError(text::format_not_named,
                     fmt::format(text::name_format_hint, formats_that_take(&Takes::iv, NamedAs::option),
                                 formats_that_take(&Takes::context, NamedAs::option)));
  return options.decrypt ? detect_authenticated_format(input) : default_format();
}

// What the options ask of a format besides decryption.
void check_format(const Options& options, const Format& format) {
  if ((options.test || options.salvage) && !format.authenticated)
    throw UsageError(
        fmt::format(text::authenticates_nothing, format.name, options.test ? "--test" : "--salvage"),
        fmt::format(text::authenticated_formats_hint, authenticated_formats()));
  if (options.range && !format.takes.range)
    throw UsageError(fmt::format(text::no_ranges, format.name),
                     fmt::format(text::formats_with_ranges_hint, formats_that_take(&Takes::range)));
}

SessionRequest make_request(const Options& options, Secrets& secrets, HeaderReader& input, Cancel& cancel) {
  SessionRequest request;
  request.decrypt = options.decrypt;
  request.cipher = options.cipher;
  request.keys = std::move(secrets.keys);
  request.identities = std::move(secrets.identities);
  request.recipients = std::move(secrets.recipients);
  request.passphrase = std::move(secrets.passphrase);
  request.iv = options.iv;
  request.context = options.context;
  request.label = options.label;
  request.iterations = options.iterations;
  request.input = &input;
  request.check = [&cancel] { cancel.check(); };
  return request;
}

// What gpuaes-bench sweep found best on the devices that are here.
Tuning find_tuning(const Messages& messages) {
  const std::optional<std::string> model = nvidia_model();
  if (!model) return {};
  const std::optional<Tuning> found =
      read_tuning(*model, [&](const std::string& text) { messages.warning(text); });
  if (!found) return {};
  messages.detail(fmt::format(text::tuning_used, *tuning_file(*model), found->threads,
                              found->blocks_per_thread, found->streams));
  return *found;
}

Machine machine_for(const RunShape& shape, const Messages& messages) {
  Machine machine = this_machine(shape);
  machine.tuning = [&messages] { return find_tuning(messages); };
  return machine;
}

// What finds segments damaged says how to have the others all the same.
template <class Action>
void hint_at_salvage(const Options& options, Action action) {
  try {
    action();
  } catch (const AuthError& error) {
    if (options.test) throw;
    throw AuthError(error.what(), text::salvage_hint);
  }
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

void write_stats(const Stats& stats, Sink& sink) {
  const std::string json = to_json(stats);
  sink.write(std::as_bytes(std::span(json)));
  sink.finish();
}

}  // namespace

void run_filter(const Options& options, const Messages& messages) {
  const Clock::time_point start = Clock::now();
  Cancel cancel;
  const Control control(cancel);
  const Messages::CancelledCheck cancelled_check(messages, [&cancel] { return cancel.requested(); });
  Progress progress(control, messages, options.progress && options.level != Messages::Level::quiet);
  std::vector<LaneSpec> lanes = parse_lanes(options.lanes);
  const CudaKernel kernel = parse_cuda_kernel(options.kernel);

  refuse_same_inputs(options);
  Secrets secrets = read_secrets(options, messages, cancel);
  Endpoints endpoints = open_endpoints(options, secrets, messages, cancel);
  FdSource& source = endpoints.source;
  HeaderReader input([&source](std::span<std::byte> out) { return source.read(out); });
  const Format& format = choose_format(options, input);
  check_format(options, format);
  const std::unique_ptr<Session> session =
      open_session(format, make_request(options, secrets, input, cancel));
  source.begin_here();
  if (!format.authenticated) messages.warning(fmt::format(text::not_authenticated, format.name));
  if (!options.key_files.empty() && !options.recipients.empty()) messages.warning(text::key_and_recipient);

  Stream stream{&source, session.get(), endpoints.output.get()};
  std::optional<RangeStream> range;
  if (options.range)
    hint_at_salvage(options, [&] {
      stream = range.emplace(find_range(*options.range, stream, *source.size()), stream).stream();
    });
  std::optional<Salvage> salvage;
  const auto warn = [&messages](const std::string& text) { messages.warning(text); };
  if (options.salvage) stream = salvage.emplace(stream, input.taken(), warn).stream();

  const RunShape shape{.shared_bytes = stream.source->shared_size(),
                       .authenticated = format.authenticated,
                       .cipher = session->cipher(),
                       .chunk_bytes = options.chunk_bytes};
  LanePlan plan = plan_lanes(std::move(lanes), shape, machine_for(shape, messages));
  for (std::vector<LaneSpec>* specs : {&plan.first, &plan.later}) show_only_named_devices(*specs);
  source.shared_by(static_cast<unsigned>(plan.jobs));
  Ring ring = make_ring(plan, *stream.session);
  messages.detail(fmt::format(text::ring, ring.chunks(), describe_bytes(ring.in_bytes()),
                              describe_bytes(ring.memory().size())));
  std::optional<Trace> trace;
  if (endpoints.trace) trace.emplace(std::move(endpoints.trace), cancel);
  LaneSetup setup = lane_setup(ring, *stream.source, *stream.session);
  if (salvage) setup.memory = ring.memory();  // wrapped lanes put nothing in the place of its input
  setup.timed = trace.has_value();
  setup.kernel = kernel;
  if (kernel == default_cuda_kernel) setup.shape = {plan.tuning.threads, plan.tuning.blocks_per_thread};
  LanePool::Wrap wrap;
  if (salvage) wrap = [&salvage](std::unique_ptr<Lane> lane) { return salvage->wrap(std::move(lane)); };
  const LanePool lane_pool(plan, setup, std::move(wrap));
  Pipeline pipeline({.ring = ring,
                     .source = *stream.source,
                     .sink = *stream.sink,
                     .session = *stream.session,
                     .cancel = cancel,
                     .fallback_lane = [&lane_pool] { return lane_pool.open_fallback(); },
                     .warn = warn,
                     .trace = trace ? &*trace : nullptr});
  for (std::unique_ptr<Lane>& lane : lane_pool.open_first()) pipeline.add_lane(std::move(lane));
  messages.detail(plan.reason.empty()
                      ? fmt::format(text::lanes_at_work, describe(plan.first))
                      : fmt::format(text::lanes_and_reason, describe(plan.first), plan.reason));
  // Ciphertext has a size that is known; plaintext may be made smaller by its file system.
  if (!options.decrypt && shape.shared_bytes > 0)
    endpoints.output->expect(session->header().size() + session->output_size(shape.shared_bytes, true));
  {
    const Progress::Watch watch(
        progress, expected_size(options, input.taken(), range ? range->size() : source.size()), [&] {
          return Progress::Position{input.taken() + pipeline.bytes_in(), pipeline.lanes_at_work()};
        });
    endpoints.output->write(session->header());
    {
      const std::jthread opener = lane_pool.take_over(pipeline, messages);
      hint_at_salvage(options, [&] { pipeline.run(); });
    }
    stream.sink->finish();
  }

  const std::uint64_t bytes_out = range ? range->written() : session->header().size() + pipeline.bytes_out();
  const Stats stats{input.taken() + pipeline.bytes_in(), bytes_out,
                    std::chrono::duration<double>(Clock::now() - start).count(), pipeline.lane_stats(),
                    ring_stats(ring)};
  const std::optional<AuthError> damage = salvage ? salvage->verdict() : std::nullopt;
  try {
    if (endpoints.stats) write_stats(stats, *endpoints.stats);
    if (trace) trace->finish();
  } catch (const IoError& error) {
    if (!damage) throw;
    messages.warning(error.what());  // what is lost of the input is worse
  }
  messages.detail(summary(stats));
  if (damage) throw *damage;
}

}  // namespace gpuaes
