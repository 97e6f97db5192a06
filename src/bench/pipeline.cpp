// gpuaes-bench pipeline: lanes and their ring, between endpoints that take no time.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "bench/benches.hpp"
#include "cli/options.hpp"
#include "format/format.hpp"
#include "io/source_sink.hpp"
#include "keys/kdf.hpp"
#include "lane/lane.hpp"
#include "lane/plan.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/ring.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

// Provides `size` bytes without writing them, because that would take time. They are whatever is in the
// chunks' memory: zeros in a new ring.
class NullSource : public Source {
 public:
  // `parallel`: like a file, which lanes read in parallel; otherwise like a pipe.
  NullSource(std::uint64_t size, bool parallel) : size_(size), parallel_(parallel) {}

  std::size_t read(std::span<std::byte> out) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - at_));
    at_ += count;
    return count;
  }
  bool ready(std::chrono::milliseconds) override { return true; }
  std::uint64_t parallel_size() const override { return parallel_ ? size_ : 0; }
  void read_at(std::uint64_t, std::span<std::byte>) const override {}
  void skip_to(std::uint64_t offset) override { at_ = offset; }

 private:
  const std::uint64_t size_;
  const bool parallel_;
  std::uint64_t at_ = 0;
};

// Does no work: a run with it takes as long as everything except the cipher.
class IdleLane : public Lane {
 public:
  std::string name() const override { return "none"; }
  void start(const Job&) override {}
  std::optional<std::size_t> finish() override { return std::nullopt; }
};

// Measures the time that a thread spends in a lane.
class TimedLane : public Lane {
 public:
  // Adds the seconds to `total` on destruction.
  TimedLane(std::unique_ptr<Lane> lane, std::atomic<double>& total) : lane_(std::move(lane)), total_(total) {}
  ~TimedLane() override { total_ += stopwatch_.seconds(); }

  std::string name() const override { return lane_->name(); }
  std::size_t depth() const override { return lane_->depth(); }
  bool copies() const override { return lane_->copies(); }
  std::span<const unsigned> cpus() const override { return lane_->cpus(); }
  std::span<const Phase> phases() const override { return lane_->phases(); }
  void start(const Job& job) override {
    stopwatch_.set(true);
    lane_->start(job);
    stopwatch_.set(false);
  }
  std::optional<std::size_t> finish() override {
    stopwatch_.set(true);
    const std::optional<std::size_t> bad = lane_->finish();
    stopwatch_.set(false);
    return bad;
  }

 private:
  std::unique_ptr<Lane> lane_;
  std::atomic<double>& total_;
  Stopwatch stopwatch_;
};

// The settings of a row. Each run opens everything again, as a run of the filter does.
struct Setup {
  const Format* format;
  Cipher cipher;
  bool as_file;
  std::string lanes;  // as given
  std::size_t chunk_bytes;
};

struct Measured {
  std::size_t ring_chunks, chunk_bytes, lanes;
  std::uint64_t bytes;
  std::uint64_t chunks = 0;
  double seconds = 0;
  double cipher_seconds = 0, wait_seconds = 0;  // sums over the threads of all lanes
};

constexpr std::string_view idle_name = "none";

// Close to the longest stream that every format accepts: lanes that do nothing reach it.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 50;

bool is_idle(const std::string& lanes) {
  return lanes == idle_name || lanes.starts_with("none:");
}

// Lanes that do nothing are planned like CPU lanes. `cuda` is one device, since startup is not measured.
LaneChoice parse_choice(const std::string& lanes) {
  if (!is_idle(lanes)) {
    LaneChoice choice = parse_lanes(lanes);
    if (choice.named.empty()) throw UsageError("lanes must be named: auto is not measured");
    use_first_device(choice.named);
    choice.all_devices = true;
    return choice;
  }
  LaneSpec spec{Backend::cpu, {}, {}};
  if (lanes != idle_name) spec.count = parse_count(lanes.substr(idle_name.size() + 1));
  return {.named = {spec}};
}

std::vector<std::unique_ptr<Lane>> open(const Setup& setup, const LanePlan& planned,
                                        const LaneSetup& for_lanes) {
  std::vector<std::unique_ptr<Lane>> lanes;
  if (!is_idle(setup.lanes)) {
    for (const std::vector<LaneSpec>* specs : {&planned.first, &planned.joining})
      std::ranges::move(open_lanes(*specs, for_lanes), std::back_inserter(lanes));
    return lanes;
  }
  for (std::size_t i = 0; i < planned.jobs; ++i) lanes.push_back(std::make_unique<IdleLane>());
  return lanes;
}

std::unique_ptr<Session> open_session(const Format& format, Cipher cipher) {
  SessionRequest request{.cipher = cipher};
  request.keyring.keys.push_back({KeyKind::key_file, random_secret(info(cipher).key_bytes)});
  if (format.accepts.iv) request.iv = std::string(2 * info(cipher).ctr.value().iv_bytes, '0');
  return open_session(format, std::move(request));
}

// IoError if a chunk does not fit into memory.
LanePlan plan(const Setup& setup, std::uint64_t bytes) {
  const Workload workload{.parallel_bytes = setup.as_file ? bytes : 0,
                          .cipher = setup.cipher,
                          .authenticated = setup.format->authenticated,
                          .chunk_bytes = setup.chunk_bytes};
  const LaneChoice choice = parse_choice(setup.lanes);
  return plan_lanes(choice, workload, this_machine(workload, choice));
}

// The first access to a page waits for the system; it must not be timed.
void touch(std::span<std::byte> memory, const Cancel& cancel) {
  constexpr std::size_t piece = 16 << 20;
  for (; !memory.empty(); memory = memory.subspan(std::min(piece, memory.size()))) {
    cancel.check();
    std::ranges::fill(memory.first(std::min(piece, memory.size())), std::byte{0});
  }
}

Measured run_once(const Setup& setup, std::uint64_t bytes, Cancel& cancel) {
  const std::unique_ptr<Session> session = open_session(*setup.format, setup.cipher);
  NullSource source(bytes, setup.as_file);
  NullSink sink(cancel);
  const LanePlan planned = plan(setup, bytes);
  Ring ring = make_ring(planned, *session);
  std::vector<std::unique_ptr<Lane>> lanes = open(setup, planned, lane_setup(ring, *session, setup.as_file));
  touch(ring.memory(), cancel);

  Measured measured{ring.chunks(), ring.in_bytes(), lanes.size(), bytes};
  std::atomic<double> in_lanes = 0;
  std::once_flag warned;
  std::string warning;  // the first; it means that a lane failed, so the row would be wrong
  Pipeline pipeline(
      {.ring = ring,
       .source = source,
       .sink = sink,
       .session = *session,
       .cancel = cancel,
       .warn = [&](const std::string& text) { std::call_once(warned, [&] { warning = text; }); }});
  for (std::unique_ptr<Lane>& lane : lanes)
    pipeline.add_lane(std::make_unique<TimedLane>(std::move(lane), in_lanes));
  const Clock::time_point start = Clock::now();
  pipeline.run();
  measured.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!warning.empty()) throw LaneError(warning);
  if (pipeline.bytes_in() != bytes || pipeline.bytes_out() != session->output_size(bytes, true))
    throw LaneError(fmt::format("of {} bytes, {} were read and {} written", bytes, pipeline.bytes_in(),
                                pipeline.bytes_out()));
  measured.cipher_seconds = in_lanes;
  for (const LaneStats& stats : pipeline.lane_stats()) {
    measured.chunks += stats.chunks;
    measured.wait_seconds += stats.wait_seconds;
  }
  return measured;
}

// Tries longer and longer runs until one is long enough, because the lanes' speed is not known in advance.
Measured run_long(const Setup& setup, double seconds, Cancel& cancel) {
  for (std::uint64_t bytes = 4 * setup.chunk_bytes;;) {
    const Measured measured = run_once(setup, bytes, cancel);
    if (measured.seconds >= 0.8 * seconds || bytes > max_bytes / 2) return measured;
    const double factor = std::clamp(seconds / measured.seconds, 2.0, 64.0);
    bytes = std::min(static_cast<std::uint64_t>(static_cast<double>(bytes) * factor), max_bytes);
    bytes -= bytes % setup.chunk_bytes;
  }
}

bool has_room(const Setup& setup, const Report& report) {
  try {
    plan(setup, 1);
    return true;
  } catch (const IoError& error) {
    report.skip(fmt::format("{}, chunks of {} bytes: {}", setup.lanes, setup.chunk_bytes, error.what()));
    return false;
  }
}

// Times per chunk are for one thread: the time of all threads divided by the number of all chunks.
void report_row(const Setup& setup, const Measured& measured, Report& report) {
  const auto each = [&](double seconds) { return seconds / static_cast<double>(measured.chunks) * 1e6; };
  const double lanes_seconds = static_cast<double>(measured.lanes) * measured.seconds;
  report.add({setup.lanes, setup.format->name, info(setup.cipher).name, setup.as_file ? "file" : "pipe",
              measured.chunk_bytes, measured.ring_chunks, measured.chunks, measured.seconds,
              static_cast<double>(measured.bytes) / measured.seconds / 1e9, each(lanes_seconds),
              each(measured.cipher_seconds), each(measured.wait_seconds),
              each(lanes_seconds - measured.cipher_seconds - measured.wait_seconds)});
}

// What to measure -------------------------------------------------------------------------------

std::vector<std::string> default_lanes() {
  std::vector<std::string> lanes;
  const unsigned cpus = usable_cpus();
  for (unsigned count = 1; count < 2 * cpus; count *= 2)
    for (const char* const name : {"none", "cpu"})
      lanes.push_back(fmt::format("{}:{}", name, std::min(count, cpus)));
  if (cuda_may_open() && count_cuda_devices() > 0)
    for (const int streams : {1, 2, 4, 8, 16}) lanes.push_back(fmt::format("cuda:0:{}", streams));
  return lanes;
}

const Format& parse_format(const std::string& name) {
  if (std::ranges::count(pipeline_formats, name) == 0)
    throw UsageError(fmt::format("format '{}' is not measured", name), "formats are raw and sealed");
  return find_format(name);
}

bool parse_source(const std::string& name) {
  if (std::ranges::count(sources, name) == 0)
    throw UsageError(fmt::format("source '{}' is not known", name), "sources are file and pipe");
  return name == "file";
}

double parse_seconds(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || at != end || !(number >= 0.001 && number <= 3600))
    throw UsageError(fmt::format("'{}' is not a number of seconds from 0.001 to 3600", text));
  return number;
}

std::vector<Setup> parse_setups(const Arguments& arguments) {
  const std::vector<std::string> lanes =
      arguments.options.contains("lanes") ? parse_list(arguments.option("lanes", "")) : default_lanes();
  for (const std::string& each : lanes) parse_choice(each);
  const bool as_file = parse_source(arguments.option("source", "file"));
  const std::vector<std::size_t> sizes = arguments.list("chunk-size", "64K,256K,1M,4M,16M", parse_size);
  const std::vector<Cipher> ciphers = arguments.list("ciphers", "aes-256", parse_cipher);
  std::vector<Setup> setups;
  for (const std::string& name : parse_list(arguments.option("format", "raw"))) {
    const Format& format = parse_format(name);
    for (const Cipher cipher : ciphers) {
      open_session(format, cipher);  // throws if the format does not have the cipher
      for (const std::size_t size : sizes)
        for (const std::string& each : lanes) setups.push_back({&format, cipher, as_file, each, size});
    }
  }
  return setups;
}

}  // namespace

std::vector<std::string_view> measured_lanes() {
  std::vector<std::string_view> names = backend_names();
  names.insert(names.begin(), idle_name);
  return names;
}

void run_pipeline_bench(const Arguments& arguments) {
  const double seconds = parse_seconds(arguments.option("seconds", "0.5"));
  std::optional<std::uint64_t> bytes;  // if set, the exact length of a run
  if (arguments.options.contains("bytes")) bytes = parse_size(arguments.option("bytes", ""));
  if (bytes && arguments.options.contains("seconds"))
    throw UsageError("--seconds and --bytes exclude each other");
  const std::vector<Setup> setups = parse_setups(arguments);
  Report report(arguments.cancel, arguments.form,
                {"lanes", "format", "cipher", "source", "chunk_bytes", "ring_chunks", "chunks", "seconds",
                 "gb_per_s", "lane_us", "cipher_us", "wait_us", "rest_us"});
  for (const Setup& setup : setups)
    if (has_room(setup, report))
      report_row(
          setup,
          bytes ? run_once(setup, *bytes, arguments.cancel) : run_long(setup, seconds, arguments.cancel),
          report);
  report.finish();
}

}  // namespace gpuaes
