// READ THIS FIRST. A run is built from its parts here, and joined:
//
//     source -> [ ring of chunks ] -> sink        the pipeline moves chunks round the ring,
//                  |       ^                      a session (a format with its key) says what each one needs,
//                session.job -> lane              and lanes do it
//
// The order of declaration is lifetime: what is used by others stands before them and goes after them.

#include "filter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "cipher/key.hpp"
#include "format/format.hpp"
#include "io/fd.hpp"
#include "io/output_file.hpp"
#include "io/signals.hpp"
#include "lane/lanes.hpp"
#include "pipeline/pipeline.hpp"
#include "stats.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

const Format& choose_format(const Options& options) {
  if (!options.format)
    throw UsageError("no format was named", "-f raw --iv HEX is AES-CTR alone, which is not authenticated");
  if (const Format* format = find_format(*options.format)) return *format;
  throw UsageError(fmt::format("format '{}' is not known", *options.format), "formats are " + format_names());
}

// A key in place of its file's name must not get into a message, and so into a log.
FdSource open_key_file(const std::string& name, Cancel& cancel) {
  const bool looks_like_key =
      name.size() >= 32 && name.find_first_not_of("0123456789abcdefABCDEF") == name.npos;
  if (looks_like_key && access(name.c_str(), F_OK) != 0)
    throw UsageError("-k takes the name of a key file, and never a key",
                     "gpuaes-stream(1) tells how to make one");
  return open_source(name, cancel);
}

Secret read_key_file(FdSource& file, const std::string& name) {
  Secret contents(max_key_file_bytes + 1);
  std::size_t size = 0;
  while (size < contents.size()) {
    const std::size_t count = file.read(contents.bytes().subspan(size));
    if (count == 0) break;
    size += count;
  }
  return parse_key(contents.bytes().first(size), name);
}

// `in_use` gets the files that it reads.
std::unique_ptr<Session> open_session(const Options& options, const Format& format,
                                      std::vector<struct stat>& in_use, Cancel& cancel) {
  SessionRequest request;
  request.decrypt = options.decrypt;
  request.cipher = options.cipher;
  request.iv = options.iv;
  if (options.key_files.size() > 1) throw UsageError(fmt::format("{} format has one key", format.name));
  if (!options.key_files.empty()) {
    FdSource file = open_key_file(options.key_files.front(), cancel);
    in_use.push_back(file.status());
    request.key = read_key_file(file, options.key_files.front());
  }
  return format.open(std::move(request));
}

Ring make_ring(const LanePlan& plan, const Session& session) {
  const std::size_t units = (plan.chunk_bytes + session.unit_in() - 1) / session.unit_in();
  return Ring(plan.chunks, units * session.unit_in(), units * session.unit_out());
}

// What CUDA lanes pin: outputs too, unless they take the place of their inputs.
JobMemory job_memory(const Ring& ring, const Source& source, const Session& session) {
  const bool in_place = source.shared_size() > 0 && session.in_place();
  return {in_place ? ring.in_memory() : ring.memory(), ring.in_bytes()};
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

// Opens the later lanes, which then take over. Where they cannot open the first ones go on: nobody asked for
// these by name.
void take_over(Pipeline& pipeline, const LanePlan& plan, const JobMemory& jobs, const Messages& messages) {
  try {
    pipeline.replace_lanes(open_lanes(plan.later, jobs));
    messages.detail("lanes " + describe(plan.later) + " take over");
  } catch (const std::exception& error) {
    messages.detail(fmt::format("no other lanes take over: {}", error.what()));
  }
}

}  // namespace

void run_filter(const Options& options, const Messages& messages) {
  const Clock::time_point start = Clock::now();
  const Format& format = choose_format(options);
  std::vector<LaneSpec> lanes = parse_lanes(options.lanes);

  Cancel cancel;
  const SignalWatch signals(cancel);
  std::vector<struct stat> in_use;
  const std::unique_ptr<Session> session = open_session(options, format, in_use, cancel);
  FdSource source = open_source(options.input, cancel);
  in_use.push_back(source.status());
  if (options.stats && is_same_output(*options.stats, options.output))
    throw UsageError("--stats names the file that the output goes to");
  std::unique_ptr<Sink> stats_sink;
  if (options.stats) stats_sink = open_sink(options.stats, {.in_use = in_use}, cancel);
  const std::unique_ptr<Sink> sink =
      open_sink(options.output, {.allow_terminal = options.decrypt, .in_use = in_use}, cancel);
  if (!format.authenticated)
    messages.warning(fmt::format("{} format is not authenticated: nobody notices when its bytes are changed",
                                 format.name));

  const LanePlan plan = plan_lanes(std::move(lanes), {.input_bytes = source.size(),
                                                      .lanes_read = source.shared_size() > 0,
                                                      .chunk_bytes = options.chunk_bytes});
  Ring ring = make_ring(plan, *session);
  messages.detail(fmt::format("ring {} chunks of {}, {} in all", ring.chunks(),
                              describe_bytes(ring.in_bytes()), describe_bytes(ring.memory().size())));
  const JobMemory jobs = job_memory(ring, source, *session);
  Pipeline pipeline({.ring = ring,
                     .source = source,
                     .sink = *sink,
                     .session = *session,
                     .cancel = cancel,
                     .spare_lane = make_cpu_lane,
                     .warn = [&messages](const std::string& text) { messages.warning(text); }});
  for (std::unique_ptr<Lane>& lane : open_lanes(plan.first, jobs)) pipeline.add_lane(std::move(lane));
  messages.detail("lanes " + describe(plan.first));
  std::jthread opener;
  if (!plan.later.empty()) opener = std::jthread([&] { take_over(pipeline, plan, jobs, messages); });
  pipeline.run();
  opener = {};
  sink->finish();

  if (!stats_sink) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const std::string json =
      to_json({pipeline.bytes_in(), pipeline.bytes_out(), seconds, pipeline.lane_stats()});
  stats_sink->write(std::as_bytes(std::span(json)));
  stats_sink->finish();
}

}  // namespace gpuaes
