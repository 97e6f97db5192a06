// Which thread drives which lane: the caller's thread drives the first lane; others are created when there is
// more to do.
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "lane/backends.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/io_support.hpp"
#include "support/scripted_lane.hpp"
#include "support/threads.hpp"
#include "system/numa.hpp"

namespace gpuaes {
namespace {

// The threads that did jobs.
class Seen {
 public:
  LaneScript script() {
    return {.on_finish = [this](std::uint64_t) {
      const std::lock_guard lock(mutex_);
      threads_.insert(std::this_thread::get_id());
    }};
  }
  std::size_t count() const { return threads_.size(); }
  bool caller() const { return threads_.contains(std::this_thread::get_id()); }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> threads_;
};

// Returns the error, or nothing.
std::string run_without_threads(Rig& rig) {
  const NoThreads none;
  return rig.run();
}

}  // namespace

TEST_CASE("without other threads, or if the input fits in one chunk, the caller's thread does all the work") {
  for (const std::size_t size : {0, 1, 16, 63, 64, 65 * 16})
    for (const std::uint64_t parallel : {std::size_t{0}, size})
      for (const std::size_t lanes : {1, 2, 5}) {
        if (parallel == 0 && size == 64) continue;  // more input may follow a full chunk
        CAPTURE(size, parallel, lanes);
        Seen seen;
        Rig rig({.size = size, .source = {.parallel = parallel}});
        rig.add_lanes(lanes, seen.script());
        CHECK(run_without_threads(rig) == "");
        CHECK(rig.wrong_output(size) == "");
        CHECK(seen.count() == 1);
        CHECK(seen.caller());
        CHECK(rig.pipeline.lane_stats().size() == lanes);
        CHECK(rig.pipeline.lane_stats()[0].bytes == size);
      }
}

TEST_CASE("a lane that gets no thread does not delay the run and replaces no other lane") {
  Rig rig({.size = 64 * 20});
  Gate refused;
  rig.add_lanes(1, {.on_finish = [&](std::uint64_t) { refused.wait(); }});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(refused.reached_by(1));
  std::unique_ptr<Lane> lane = rig.lane();
  {
    const NoThreads none;
    CHECK_THROWS_AS(rig.pipeline.add_lane(std::move(lane)), std::system_error);
    CHECK_THROWS_AS(rig.replace_lanes(1), std::system_error);
  }
  refused.open();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(64 * 20) == "");
  CHECK(rig.pipeline.lane_stats()[0].chunks == 20);
}

TEST_CASE("the number of threads does not exceed the number of chunks") {
  Seen seen;
  Rig rig({.size = 64 * 2 + 10, .ring_chunks = 8, .max_delay = std::chrono::microseconds(200)});
  rig.add_lanes(8, seen.script());
  CHECK(rig.run() == "");
  CHECK(rig.wrong_output(64 * 2 + 10) == "");
  CHECK(seen.count() <= 3);
  CHECK(rig.pipeline.lane_stats().size() == 8);
}

TEST_CASE("all lanes work if there is enough input") {
  for (const std::uint64_t parallel : {0, 64 * 40}) {
    CAPTURE(parallel);
    Rig rig({.size = 64 * 40, .ring_chunks = 5, .source = {.parallel = parallel}});
    Gate all;
    rig.add_lanes(5, {.on_finish = [&](std::uint64_t job) {
                    if (job == 0) all.wait();
                  }});
    auto ended = in_thread([&] { return rig.run(); });
    CHECK(all.reached_by(5));
    all.open();
    CHECK(result_of(std::move(ended)) == "");
    CHECK(rig.wrong_output(64 * 40) == "");
  }
}

TEST_CASE("when a lane fails, its thread drives a lane that has no thread") {
  Seen seen;
  Rig rig({.size = 40, .fallback_lane = make_cpu_lane});
  rig.add_lanes(2, {.on_start = fail_at_job(0)});
  rig.add_lanes(2, seen.script());
  CHECK(run_without_threads(rig) == "");
  CHECK(rig.wrong_output(40) == "");
  CHECK(rig.warnings() == 2);
  CHECK(seen.caller());
  const std::vector<LaneStats> stats = rig.pipeline.lane_stats();
  REQUIRE(stats.size() == 4);  // no fallback lane was opened
  CHECK(stats[2].bytes == 40);
}

TEST_CASE("when the only lane fails, its thread drives the fallback lane, and other runs continue") {
  const Jitter none;
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    const auto make_fallback = [&]() -> std::unique_ptr<Lane> {
      if (!fails) return make_cpu_lane();
      return std::make_unique<ScriptedLane>(make_cpu_lane(), LaneScript{.on_start = fail_at_job(0)}, none);
    };
    Rig rig({.size = 40, .fallback_lane = make_fallback});
    rig.add_lanes(1, {.on_start = fail_at_job(0)});
    CHECK(run_without_threads(rig) == (fails ? "lane: the lane fails at job 0" : ""));
    CHECK(rig.wrong_output(fails ? 0 : 40) == "");
    CHECK(!rig.cancel.requested());
  }
}

TEST_CASE("lanes that are replaced before they have a thread leave without one, and the last one stays") {
  for (const std::size_t others : {0, 1, 3}) {
    CAPTURE(others);
    Rig rig({.ring_chunks = 3});
    PipeFed run(rig);
    for (int i = 0; i < 3; ++i) run.pipeline.add_lane(rig.lane());
    auto ended = run.start();
    CHECK(is_waiting(ended));  // the caller's thread waits for the first byte
    std::vector<std::unique_ptr<Lane>> lanes;
    for (std::size_t i = 0; i < others; ++i) lanes.push_back(rig.lane());
    run.pipeline.replace_lanes(std::move(lanes));
    for (std::size_t fed = 0; fed < 64 * 5; fed += 64) {
      put(run.pipe.writer, test_bytes(64, fed));
      CHECK(eventually([&] { return rig.sink.size() == fed + 64; }));
    }
    run.pipe.writer.close();
    CHECK(result_of(std::move(ended)) == "");
    CHECK(rig.wrong_output(64 * 5) == "");
    const std::vector<LaneStats> stats = run.pipeline.lane_stats();
    REQUIRE(stats.size() == 3 + others);
    if (others == 0) continue;
    CHECK(stats[0].chunks <= 1);  // 0 if its thread was not reading yet
    CHECK(stats[1].chunks + stats[2].chunks == 0);
  }
}

TEST_CASE("a lane without a thread is used before a fallback lane") {
  Rig rig({.size = 64 * 10, .ring_chunks = 1, .fallback_lane = make_cpu_lane});
  rig.add_lanes(1, {.on_finish = fail_at_job(0)});
  rig.add_lanes(1);
  rig.replace_lanes(0);
  CHECK(result_of(in_thread([&] { return rig.run(); })) == "");
  CHECK(rig.wrong_output(64 * 10) == "");
  CHECK(rig.pipeline.lane_stats().size() == 2);
}

// Placement ---------------------------------------------------------------------------------------

namespace {

// The CPUs that the thread of a lane may use while it works.
class SeenCpus {
 public:
  // The lane waits in its first job until `gate` is open, if given.
  LaneScript script(CpuList near, Gate* gate = nullptr) {
    return {.cpus = std::move(near), .on_finish = [this, gate](std::uint64_t job) {
              const std::lock_guard lock(mutex_);
              seen_.insert(thread_cpus());
              if (job == 0 && gate != nullptr) gate->wait();
            }};
  }
  bool only(const CpuList& cpus) const { return seen_ == std::set<CpuList>{cpus}; }

 private:
  std::mutex mutex_;
  std::set<CpuList> seen_;
};

}  // namespace

TEST_CASE("a lane's thread is bound to the CPUs that are close to its device, and others are not",
          "[optional]") {
  const CpuList all = thread_cpus();
  if (all.size() < 2) return skip("needs two CPUs");
  const CpuList first{all.front()}, last{all.back()}, foreign{all.back() + 1};
  Rig rig({.size = 64 * 40, .ring_chunks = 5});
  Gate gate;
  SeenCpus none, one, other, more, far;
  rig.add_lanes(1, none.script({}, &gate));
  rig.add_lanes(1, one.script(first, &gate));
  rig.add_lanes(1, other.script(last, &gate));
  rig.add_lanes(1, more.script({all.front(), all.back() + 1}, &gate));
  rig.add_lanes(1, far.script(foreign, &gate));
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(gate.reached_by(5));
  gate.open();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(none.only(all));
  CHECK(one.only(first));
  CHECK(other.only(last));
  CHECK(more.only(first));
  CHECK(far.only(all));
}

TEST_CASE("the caller's thread is bound only while it drives a lane, and a fallback lane is not",
          "[optional]") {
  const CpuList all = thread_cpus();
  if (all.size() < 2) return skip("needs two CPUs");
  SeenCpus fallback;
  CpuList bound;
  Rig rig({.size = 40, .fallback_lane = [&] { return rig.lane(fallback.script({})); }});
  rig.add_lanes(1, {.cpus = {all.front()}, .on_start = [&](std::uint64_t) {
                      bound = thread_cpus();
                      throw LaneError("the lane fails");
                    }});
  CHECK(rig.run() == "");
  CHECK(bound == CpuList{all.front()});
  CHECK(thread_cpus() == all);
  CHECK(fallback.only(all));
}

// Stopping ----------------------------------------------------------------------------------------

TEST_CASE("a request to stop reaches the caller's thread while it waits for the first byte") {
  for (const int lanes : {1, 3}) {
    CAPTURE(lanes);
    Rig rig({});
    PipeFed run(rig);
    for (int i = 0; i < lanes; ++i) run.pipeline.add_lane(rig.lane());
    auto ended = run.start();
    CHECK(is_waiting(ended));
    rig.cancel.request(SIGTERM);
    CHECK(result_of(std::move(ended)) == "cancelled: 15");
    CHECK(rig.sink.size() == 0);
  }
}

TEST_CASE("a failure in another thread ends the run while the caller's thread waits for input") {
  Rig rig({.sink_fails_at = 100});
  PipeFed run(rig);
  Gate other;
  run.pipeline.add_lane(rig.lane({.on_finish = [&](std::uint64_t) { other.reached_by(1); }}));
  run.pipeline.add_lane(rig.lane({.on_finish = [&](std::uint64_t) { other.wait(); }}));
  put(run.pipe.writer, test_bytes(128));
  auto ended = run.start();
  CHECK(eventually([&] { return rig.sink.size() == 64; }));
  CHECK(is_waiting(ended));  // the caller's thread waits for input after the 128 bytes
  other.open();
  CHECK(result_of(std::move(ended)) == "io: the sink fails at byte 100");
  CHECK(rig.wrong_output(100) == "");
}

}  // namespace gpuaes
