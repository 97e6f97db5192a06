// Lanes that fail, join and leave during a run: no data is lost, and the remaining lanes do the work.
#include "pipeline/pipeline.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lane/backends.hpp"
#include "pipeline/rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/io_support.hpp"
#include "support/scripted_lane.hpp"
#include "support/threads.hpp"

namespace gpuaes {

// Lanes that fail ---------------------------------------------------------------------------------

TEST_CASE("lanes that fail, are replaced and are added at any moment lose no data") {
  const std::uint64_t seed = std::random_device{}();
  const Jitter random(seed);
  const auto script = [&](bool may_fail) {
    LaneScript made{.depth = 1 + random.random() % 3};
    if (may_fail && random.random() % 4 != 0)
      (random.random() % 4 == 0 ? made.on_start : made.on_finish) = fail_at_job(random.random() % 8);
    return made;
  };
  for (int repeat = 0; repeat < 80; ++repeat) {
    CAPTURE(seed, repeat);
    const std::size_t size = 64 * 80 + repeat % 16u;
    Rig rig({.size = size,
             .ring_chunks = 1 + random.random() % 5,
             .source = {.parallel = random.random() % 2 * size},
             .fallback_lane = make_cpu_lane,
             .seed = random.random(),
             .max_delay = std::chrono::microseconds(random.random() % 2 * 50)});
    const std::uint64_t failing = random.random() % 5;  // there is only one fallback lane
    for (std::uint64_t lanes = 1 + random.random() % 4; lanes > 0; --lanes)
      rig.add_lanes(1, script(failing == 0));
    auto ended = in_thread([&] { return rig.run(); });
    for (std::uint64_t i = 1; i < 4; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(random.random() % 1000));
      if (random.random() % 4 == 0)
        rig.add_lanes(1, script(failing == i));
      else
        rig.replace_lanes(random.random() % 3, script(failing == i));
    }
    CHECK(result_of(std::move(ended)) == "");
    CHECK(rig.wrong_output(size) == "");
  }
}

TEST_CASE("when the last lane fails, a fallback lane continues, with a warning for each failed lane") {
  for (const std::uint64_t lanes : {1, 3})
    for (const std::uint64_t job : {0, 2}) {
      CAPTURE(lanes, job);
      int fallbacks = 0;
      const auto make_fallback = [&fallbacks] {
        ++fallbacks;
        return make_cpu_lane();
      };
      Rig rig({.size = 64 * 60 + 1, .fallback_lane = make_fallback});
      rig.add_lanes(lanes, {.depth = 2, .on_finish = fail_at_job(job)});
      CHECK(rig.run() == "");
      CHECK(rig.wrong_output(64 * 60 + 1) == "");
      CHECK(fallbacks == 1);
      CHECK(rig.warnings() == lanes);
      CHECK(contains(rig.warned.front(), "scripted"));
      CHECK(contains(rig.warned.front(), "the lane fails at job"));
      CHECK(contains(rig.warned.front(), "); its work was reassigned"));
    }
}

TEST_CASE("when all lanes and the fallback lane fail, the run fails, and its output so far is correct") {
  for (std::uint64_t repeat = 0; repeat < 20; ++repeat) {
    CAPTURE(repeat);
    const Jitter none;
    const auto failing_fallback = [&none]() -> std::unique_ptr<Lane> {
      return std::make_unique<ScriptedLane>(make_cpu_lane(), LaneScript{.on_finish = fail_at_job(4)}, none);
    };
    Rig rig({.size = 64 * 60,
             .source = {.parallel = repeat % 2 * 64 * 60},
             .fallback_lane = failing_fallback,
             .seed = repeat,
             .max_delay = std::chrono::microseconds(30)});
    rig.add_lanes(2, {.depth = 1 + repeat % 3, .on_finish = fail_at_job(2)});
    CHECK(result_of(in_thread([&] { return rig.run(); })) == "lane: the lane fails at job 4");
    CHECK(rig.sink.size() % 64 == 0);
    CHECK(rig.sink.size() <= 64 * 8);
    CHECK(rig.wrong_output(rig.sink.size()) == "");
  }
}

TEST_CASE("when the fallback lane is missing or cannot open, the run ends with the lane's error") {
  const auto cannot_open = []() -> std::unique_ptr<Lane> { throw LaneError("no fallback lane"); };
  {
    Rig rig({.size = 64 * 60, .fallback_lane = cannot_open});
    rig.add_lanes(2, {.on_finish = fail_at_job(1)});
    CHECK(result_of(in_thread([&] { return rig.run(); })) == "lane: no fallback lane");
  }
  Rig rig({.size = 64 * 60});
  rig.add_lanes(2, {.on_start = fail_at_job(1)});
  CHECK(result_of(in_thread([&] { return rig.run(); })) == "lane: the lane fails at job 1");
}

TEST_CASE("a lane that waits for input takes over the chunks of a failed lane") {
  for (const std::size_t ring_chunks : {2, 5}) {
    CAPTURE(ring_chunks);
    Rig rig({.ring_chunks = ring_chunks});
    PipeFed run(rig);
    Gate gate;
    run.pipeline.add_lane(rig.lane({.on_finish = [&](std::uint64_t) {
      gate.wait();
      throw LaneError("the device is lost");
    }}));
    put(run.pipe.writer, test_bytes(64));
    auto ended = run.start();
    CHECK(gate.reached_by(1));
    run.pipeline.add_lane(rig.lane());
    CHECK(is_waiting(ended));
    gate.open();
    CHECK(eventually([&] { return rig.warnings() == 1; }));
    CHECK(is_waiting(ended));
    put(run.pipe.writer, test_bytes(100, 64));
    run.pipe.writer.close();
    CHECK(result_of(std::move(ended)) == "");
    CHECK(rig.wrong_output(164) == "");
  }
}

TEST_CASE("a failed lane leaves none of its output in a chunk for the lane that repeats it") {
  // The failed lane overwrites its chunks, including their inputs if lanes read these themselves.
  for (const std::uint64_t parallel :
       {std::uint64_t{0}, std::uint64_t{64 * 20 + 5}, std::uint64_t{64 * 7 + 1}})
    for (const bool at_start : {true, false})
      for (const std::size_t depth : {1, 2, 3})
        for (const std::size_t failing : {1, 2, 3}) {
          CAPTURE(parallel, at_start, depth, failing);
          Rig rig({.size = 64 * 20 + 5, .source = {.parallel = parallel}, .fallback_lane = make_cpu_lane});
          LaneScript script{.depth = depth};
          (at_start ? script.on_start : script.on_finish) = fail_at_job(2);
          rig.add_lanes(failing, script);
          CHECK(rig.run() == "");
          CHECK(rig.wrong_output(64 * 20 + 5) == "");
          CHECK(rig.warnings() == failing);
        }
}

TEST_CASE("the statistics list a fallback lane next to the lane that it replaced") {
  Rig rig({.size = 64 * 10, .fallback_lane = make_cpu_lane});
  rig.add_lanes(1, {.on_finish = fail_at_job(3)});
  CHECK(rig.run() == "");
  const std::vector<LaneStats> stats = rig.pipeline.lane_stats();
  REQUIRE(stats.size() == 2);
  CHECK(stats[0].name == "scripted");
  CHECK(stats[0].chunks == 3);
  CHECK(stats[0].bytes == 3 * 64);
  CHECK(stats[1].name == "cpu");
  CHECK(stats[1].chunks == 7);
  CHECK(stats[1].bytes == 7 * 64);
  CHECK(stats[1].busy_seconds > 0);
  CHECK(rig.pipeline.active_lanes() == std::vector<std::string>{"cpu"});
}

TEST_CASE("an input error stays with its chunk when the lane fails") {
  Rig rig({.size = 640,
           .ring_chunks = 2,
           .source = {.parallel = 640, .fail_at = 64},
           .fallback_lane = make_cpu_lane});
  rig.add_lanes(1, {.on_start = fail_at_job(1)});  // job 1 is the unreadable chunk
  CHECK(rig.run() == "io: the source fails at byte 64");
  CHECK(rig.wrong_output(64) == "");
}

// Lanes that join and leave -------------------------------------------------------------------------

TEST_CASE("a run waits for its first lane") {
  Rig rig({.size = 1000});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(is_waiting(ended));
  rig.add_lanes(1);
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(1000) == "");
}

TEST_CASE("a lane added during the run takes part, and one added after it does no harm") {
  Rig rig({.size = 64 * 20});
  Gate added;
  rig.add_lanes(1, {.on_finish = [&](std::uint64_t) { added.wait(); }});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(added.reached_by(1));
  rig.add_lanes(1);
  added.open();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(64 * 20) == "");
  CHECK(rig.pipeline.lane_stats().size() == 2);
  rig.add_lanes(1);
  CHECK(rig.pipeline.lane_stats().size() == 2);
}

TEST_CASE("replaced lanes leave after their current jobs, and the new lanes do the rest") {
  Rig rig({.size = 64 * 40 + 5});
  Gate added;
  rig.add_lanes(2, {.on_finish = [&](std::uint64_t) { added.wait(); }});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(added.reached_by(2));
  rig.replace_lanes(1);
  added.open();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(64 * 40 + 5) == "");
  const std::vector<LaneStats> stats = rig.pipeline.lane_stats();
  CHECK(stats[0].chunks == 1);
  CHECK(stats[1].chunks == 1);
  CHECK(stats[2].chunks == 39);
  CHECK(rig.pipeline.active_lanes().size() == 1);
}

TEST_CASE("a replaced lane stays if the new lanes fail before it has left") {
  Rig rig({.size = 64 * 40});
  Gate failed;
  rig.add_lanes(1, {.on_finish = [&](std::uint64_t) { failed.wait(); }});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(failed.reached_by(1));
  rig.replace_lanes(2, {.on_finish = fail_at_job(0)});
  CHECK(eventually([&] { return rig.warnings() == 2; }));
  failed.open();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(64 * 40) == "");
}

}  // namespace gpuaes
