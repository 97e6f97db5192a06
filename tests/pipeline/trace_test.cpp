// The timeline of a run: its contents and its end. tests/cli/trace/ checks that it is JSON.
#include "pipeline/trace.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/rig.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

// The state of a trace's file, which outlives the trace.
struct TraceFile {
  std::string text;
  bool finished = false;
};

class TraceSink : public Sink {
 public:
  TraceSink(TraceFile& file, Cancel& cancel) : file_(file), cancel_(cancel) {}

  void write(std::span<const std::byte> bytes) override {
    cancel_.check();
    file_.text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void finish() override {
    cancel_.check();
    file_.finished = true;
  }

 private:
  TraceFile& file_;
  Cancel& cancel_;
};

struct Event {
  int track;
  std::string name;
  double begin, end;
  std::optional<std::uint64_t> chunk;
};

std::vector<Event> events_of(const std::string& text) {
  static const std::regex line(
      R"re("ph": "X", "pid": \d+, "tid": (\d+), "name": "(\w+)", "ts": ([\d.]+), "dur": ([\d.]+)(, "args": \{"chunk": (\d+))?)re");
  std::vector<Event> events;
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
    const std::smatch& part = *at;
    Event event{std::stoi(part[1]), part[2], std::stod(part[3]), 0, {}};
    event.end = event.begin + std::stod(part[4]);
    if (part[6].matched) event.chunk = std::stoull(part[6]);
    events.push_back(event);
  }
  return events;
}

std::vector<std::uint64_t> chunks_of(const std::vector<Event>& events, const std::string& name) {
  std::vector<std::uint64_t> chunks;
  for (const Event& event : events)
    if (event.name == name) chunks.push_back(event.chunk.value());
  std::ranges::sort(chunks);
  return chunks;
}

bool is_whole(const TraceFile& file) {
  return file.finished && file.text.starts_with("{\"traceEvents\": [\n") && file.text.ends_with("\n]}\n");
}

// A rig whose run has a trace.
struct TracedRun {
  explicit TracedRun(const Setup& setup) : rig(setup) {
    trace.emplace(std::make_unique<TraceSink>(file, rig.cancel), rig.cancel);
    PipelineParts parts = rig.parts(rig.source, rig.sink);
    parts.trace = &*trace;
    pipeline.emplace(std::move(parts));
  }
  std::string run() {
    return failure_of([this] { pipeline->run(); });
  }

  TraceFile file;
  Rig rig;
  std::optional<Trace> trace;
  std::optional<Pipeline> pipeline;
};

// Reports when the device did a job: between its start and its finish, with consecutive phases.
class PhasedLane : public Lane {
 public:
  std::string name() const override { return "phased"; }
  std::size_t depth() const override { return 2; }
  void start(const Job& job) override {
    started_.push_back(Clock::now());
    inner_->start(job);
  }
  std::optional<std::size_t> finish() override {
    const Clock::time_point begin = started_.front(), end = Clock::now();
    started_.pop_front();
    phases_ = {{{"H2D", begin, begin + (end - begin) / 2}, {"D2H", begin + (end - begin) / 2, end}}};
    return std::nullopt;
  }
  std::span<const Phase> phases() const override { return phases_; }

 private:
  std::unique_ptr<Lane> inner_ = make_cpu_lane();
  std::deque<Clock::time_point> started_;
  std::array<Phase, 2> phases_{};
};

constexpr std::size_t long_run = 64 * 4000;  // produces a trace larger than the buffer

}  // namespace

TEST_CASE("concurrent jobs of a lane have their own tracks") {
  TracedRun traced({.size = 64 * 50});
  traced.pipeline->add_lane(std::make_unique<PhasedLane>());
  CHECK(traced.run() == "");
  traced.trace->finish();
  const std::vector<Event> events = events_of(traced.file.text);
  const std::size_t jobs = chunks_of(events, "read").size();
  CHECK(jobs >= 50);
  CHECK(chunks_of(events, "cipher").empty());
  std::vector<Event> last(10);
  for (const Event& event : events) {
    if (event.name == "H2D" || event.name == "D2H") {
      CHECK(event.track == 2 + static_cast<int>(*event.chunk % 2));
      CHECK(event.begin >= last.at(static_cast<std::size_t>(event.track)).end - 0.0005);
      last.at(static_cast<std::size_t>(event.track)) = event;
    } else {
      CHECK(event.track == 1);
    }
  }
  for (const std::string name : {"enqueue", "H2D", "D2H", "device", "write"})
    CHECK(chunks_of(events, name).size() == jobs);
}

TEST_CASE("a trace shows a lane waiting for another") {
  TracedRun traced({.size = 64 * 2, .ring_chunks = 1});
  Gate gate;
  traced.pipeline->add_lane(traced.rig.lane({.on_start = [&](std::uint64_t) { gate.wait(); }}));
  auto ended = in_thread([&] { return traced.run(); });
  CHECK(gate.reached_by(1));
  traced.pipeline->add_lane(make_cpu_lane());
  CHECK(is_waiting(ended));
  gate.open();
  CHECK(result_of(std::move(ended)) == "");
  traced.trace->finish();
  const std::vector<Event> events = events_of(traced.file.text);
  CHECK(std::ranges::any_of(
      events, [](const Event& event) { return event.name == "wait" && event.track == 3 && !event.chunk; }));
  const std::vector<LaneStats> stats = traced.pipeline->lane_stats();
  REQUIRE(stats.size() == 2);
  CHECK(stats[1].wait_seconds > 0);
}

TEST_CASE("a lane's statistics include its read and write times") {
  for (const std::uint64_t parallel : {0, 64 * 10}) {
    CAPTURE(parallel);
    Rig rig({.size = 64 * 10, .source = {.parallel = parallel}, .sink_waits_at = 64 * 5});
    rig.add_lanes(1);
    auto ended = in_thread([&] { return rig.run(); });
    CHECK(eventually([&] { return rig.sink.waits(); }));
    rig.cancel.request(1);
    CHECK(result_of(std::move(ended)) == "cancelled: 1");
    const LaneStats stats = rig.pipeline.lane_stats().at(0);
    CHECK(stats.read_seconds > 0);
    CHECK(stats.write_seconds > 0);
    CHECK(stats.wait_seconds == 0);
  }
}

TEST_CASE("a trace is written to its file during the run") {
  TracedRun traced({.size = long_run});
  traced.pipeline->add_lane(make_cpu_lane());
  CHECK(traced.run() == "");
  const std::size_t before = traced.file.text.size();
  CHECK(before > 0);
  traced.trace->finish();
  CHECK(is_whole(traced.file));
  CHECK(traced.file.text.size() - before < 300000);
  CHECK(chunks_of(events_of(traced.file.text), "write").size() == long_run / 64 + 1);
}

}  // namespace gpuaes
