// gpuaes-bench pipeline: lanes and their ring, between endpoints that take no time.

#include <fmt/format.h>

#include <algorithm>
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
#include "cli/option_values.hpp"
#include "format/format.hpp"
#include "io/source_sink.hpp"
#include "keys/kdf.hpp"
#include "lane/lane.hpp"
#include "lane/plan.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/ring.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

// Like a file, provides `size` bytes that lanes read in parallel, but without writing them, because that
// would take time. They are whatever is in the chunks' memory: zeros in a new ring.
class NullSource : public Source {
 public:
  explicit NullSource(std::uint64_t size) : size_(size) {}

  std::size_t read(std::span<std::byte> out) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - at_));
    at_ += count;
    return count;
  }
  bool ready(std::chrono::milliseconds) override { return true; }
  std::uint64_t parallel_size() const override { return size_; }
  void read_at(std::uint64_t, std::span<std::byte>) const override {}
  void skip_to(std::uint64_t offset) override { at_ = offset; }

 private:
  const std::uint64_t size_;
  std::uint64_t at_ = 0;
};

// Does no work: a run with it takes as long as everything except the cipher.
class IdleLane : public Lane {
 public:
  std::string name() const override { return "none"; }
  void start(const Job&) override {}
  std::optional<std::size_t> finish() override { return std::nullopt; }
};

// The settings of a row. Each run opens everything again, as a run of the filter does.
struct Setup {
  const Format* format;
  Cipher cipher;
  std::string lanes;  // as given
  std::size_t chunk_bytes;
};

struct Measured {
  std::size_t ring_chunks, chunk_bytes;
  std::uint64_t bytes;
  double seconds = 0;
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
  const Workload workload{.parallel_bytes = bytes,
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
  NullSource source(bytes);
  NullSink sink(cancel);
  const LanePlan planned = plan(setup, bytes);
  Ring ring = make_ring(planned, *session);
  std::vector<std::unique_ptr<Lane>> lanes = open(setup, planned, lane_setup(ring, *session, true));
  touch(ring.memory(), cancel);

  Measured measured{ring.chunks(), ring.in_bytes(), bytes};
  std::once_flag warned;
  std::string warning;  // the first; it means that a lane failed, so the row would be wrong
  Pipeline pipeline(
      {.ring = ring,
       .source = source,
       .sink = sink,
       .session = *session,
       .cancel = cancel,
       .warn = [&](const std::string& text) { std::call_once(warned, [&] { warning = text; }); }});
  for (std::unique_ptr<Lane>& lane : lanes) pipeline.add_lane(std::move(lane));
  const Clock::time_point start = Clock::now();
  pipeline.run();
  measured.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!warning.empty()) throw LaneError(warning);
  if (pipeline.bytes_in() != bytes || pipeline.bytes_out() != session->output_size(bytes, true))
    throw LaneError(fmt::format("of {} bytes, {} were read and {} written", bytes, pipeline.bytes_in(),
                                pipeline.bytes_out()));
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

void report_row(const Setup& setup, const Measured& measured, Report& report) {
  report.add({setup.lanes, setup.format->name, info(setup.cipher).name, measured.chunk_bytes,
              measured.ring_chunks, measured.seconds,
              static_cast<double>(measured.bytes) / measured.seconds / 1e9});
}

// What to measure -------------------------------------------------------------------------------

const Format& parse_format(const std::string& name) {
  if (std::ranges::count(pipeline_formats, name) == 0)
    throw UsageError(fmt::format("format '{}' is not measured", name), "formats are raw and sealed");
  return find_format(name);
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
  const std::vector<std::string> lanes = parse_list(arguments.option("lanes", "none,cpu"));
  for (const std::string& each : lanes) parse_choice(each);
  const std::vector<std::size_t> sizes = arguments.list("chunk-size", "64K,256K,1M,4M,16M", parse_size);
  const std::vector<Cipher> ciphers = arguments.list("ciphers", "aes-256", parse_cipher);
  std::vector<Setup> setups;
  for (const std::string& name : parse_list(arguments.option("format", "raw"))) {
    const Format& format = parse_format(name);
    for (const Cipher cipher : ciphers) {
      open_session(format, cipher);  // throws if the format does not have the cipher
      for (const std::size_t size : sizes)
        for (const std::string& each : lanes) setups.push_back({&format, cipher, each, size});
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
  const std::vector<Setup> setups = parse_setups(arguments);
  Report report(arguments.cancel, arguments.form,
                {"lanes", "format", "cipher", "chunk_bytes", "ring_chunks", "seconds", "gb_per_s"});
  for (const Setup& setup : setups)
    if (has_room(setup, report)) report_row(setup, run_long(setup, seconds, arguments.cancel), report);
  report.finish();
}

}  // namespace gpuaes
