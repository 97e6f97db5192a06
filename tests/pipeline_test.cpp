// The pipeline with a real session: every byte comes through whatever the timing, and errors are the same
// every time.
#include "pipeline/pipeline.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "format/raw.hpp"
#include "io/fd.hpp"
#include "lane/lanes.hpp"
#include "support.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t unit = 16;
const CounterBlock first_counter = counter_block("fffffffffffffffffffffffffffffff0");  // carries soon

Bytes cipher_key() {
  return test_bytes(32, 7);
}

// What has to come of the first `size` of the test bytes.
Bytes expected_output(std::size_t size) {
  return libcrypto_ctr(cipher_key(), first_counter, test_bytes(size));
}

std::unique_ptr<Session> raw_session() {
  SessionRequest request;
  request.key = make_key(cipher_key()).bytes;
  request.iv = "fffffffffffffffffffffffffffffff0";
  return open_raw(std::move(request));
}

std::size_t whole(std::size_t size, std::size_t of) {
  return size / of * of;
}

struct Setup {
  std::size_t size = 0;  // of the input
  std::size_t chunk_bytes = 64;
  std::size_t slots = 4;
  SourceScript source{};
  std::uint64_t sink_fails_at = never;
  LaneFactory spare_lane{};
  std::uint64_t seed = 0;
  std::chrono::microseconds most_delay{0};
};

// A pipeline between ends in memory. Cancel has the process's signal handler to itself: one rig at a time.
struct Rig {
  explicit Rig(Setup with)
      : setup(std::move(with)),
        source(test_bytes(setup.size), setup.source, cancel, jitter),
        sink(setup.sink_fails_at, jitter) {}

  PipelineParts parts(Source& from, Sink& to) {
    return {.ring = ring,
            .source = from,
            .sink = to,
            .session = *session,
            .cancel = cancel,
            .spare_lane = setup.spare_lane,
            .warn = [this](const std::string& text) {
              const std::lock_guard lock(mutex);
              warned.push_back(text);
            }};
  }

  // The reference, slow as it is, for what is small.
  std::unique_ptr<Lane> lane(LaneScript script = {}) {
    const bool small = setup.size <= 4096 && jitter.random() % 2 == 0;
    return std::make_unique<ScriptedLane>(small ? make_reference_lane() : make_cpu_lane(), std::move(script),
                                          jitter);
  }

  void add_lanes(std::size_t count, LaneScript script = {}) {
    for (std::size_t i = 0; i < count; ++i) pipeline.add_lane(lane(script));
  }

  // Runs to the end. How it failed, or nothing.
  std::string run() {
    return failure_of([this] { pipeline.run(); });
  }

  std::string wrong_output(std::size_t size) const { return difference(sink.bytes(), expected_output(size)); }

  std::size_t warnings() const {
    const std::lock_guard lock(mutex);
    return warned.size();
  }

  Setup setup;
  Jitter jitter{setup.seed, setup.most_delay};
  Cancel cancel;
  std::unique_ptr<Session> session = raw_session();
  Ring ring{setup.slots, setup.chunk_bytes, setup.chunk_bytes};
  MemorySource source;
  MemorySink sink;
  mutable std::mutex mutex;
  std::vector<std::string> warned;
  Pipeline pipeline{parts(source, sink)};
};

// Waits until `holds()`; false when it does not come to be.
template <class Condition>
bool comes_true(Condition holds) {
  const auto end = std::chrono::steady_clock::now() + promptly;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// A door that is shut until someone opens it, and that knows how many came to it.
class Gate {
 public:
  void open() { promise_.set_value(); }
  void wait() {
    ++came_;
    future_.wait();
  }
  bool comes(unsigned count) const {
    return comes_true([&] { return came_ >= count; });
  }

 private:
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
  std::atomic<unsigned> came_ = 0;
};

std::array<std::size_t, 12> sizes_around(std::size_t chunk_bytes) {
  return {0,
          1,
          15,
          16,
          17,
          chunk_bytes - 1,
          chunk_bytes,
          chunk_bytes + 1,
          3 * chunk_bytes - 1,
          3 * chunk_bytes,
          3 * chunk_bytes + 1,
          8 * chunk_bytes + 5};
}

}  // namespace

// All is well -------------------------------------------------------------------------------------

TEST_CASE("the output equals libcrypto's for sizes around every boundary") {
  for (const std::size_t chunk_bytes : {16, 64, 4096, 65536})
    for (const std::size_t size : sizes_around(chunk_bytes))
      for (const std::size_t slots : {1, 2, 5})
        for (const std::size_t lanes : {1, 3}) {
          CAPTURE(chunk_bytes, size, slots, lanes);
          Rig rig({.size = size, .chunk_bytes = chunk_bytes, .slots = slots});
          rig.add_lanes(lanes);
          CHECK(rig.run() == "");
          CHECK(rig.wrong_output(size) == "");
          CHECK(rig.pipeline.bytes_in() == size);
          CHECK(rig.pipeline.bytes_out() == size);
          CHECK(rig.warnings() == 0);
        }
}

TEST_CASE("the output is the same where lanes read a part of the input or all of it") {
  for (const std::size_t chunk_bytes : {16, 64, 4096, 65536})
    for (const std::size_t size : sizes_around(chunk_bytes))
      for (const std::size_t shared : {size, size - size / 3, size / 2, size / 3 + 1}) {
        if (shared > size) continue;
        CAPTURE(chunk_bytes, size, shared);
        Rig rig({.size = size, .chunk_bytes = chunk_bytes, .slots = 3, .source = {.shared = shared}});
        rig.add_lanes(2);
        CHECK(rig.run() == "");
        CHECK(rig.wrong_output(size) == "");
      }
}

TEST_CASE("a source may give any number of bytes at a time") {
  for (const std::size_t read_size : {1, 7, 16, 4096})
    for (const std::size_t chunk_bytes : {16, 64, 4096})
      for (const std::size_t size : {1, 100, 4097, 10000}) {
        CAPTURE(read_size, chunk_bytes, size);
        Rig rig({.size = size,
                 .chunk_bytes = chunk_bytes,
                 .source = {.read_size = read_size, .sometimes_late = true}});
        rig.add_lanes(2);
        CHECK(rig.run() == "");
        CHECK(rig.wrong_output(size) == "");
      }
}

TEST_CASE("every number of slots and of lanes gives the same output under random delays") {
  const std::uint64_t seed = std::random_device{}();
  for (const std::size_t slots : {1, 2, 3, 4, 7})
    for (std::size_t lanes = 1; lanes <= 5; ++lanes)
      for (std::size_t depth = 1; depth <= 3; ++depth) {
        CAPTURE(seed, slots, lanes, depth);
        Rig rig({.size = 64 * 30 + 3,
                 .slots = slots,
                 .seed = seed,
                 .most_delay = std::chrono::microseconds(200)});
        rig.add_lanes(lanes, {.depth = depth});
        CHECK(rig.run() == "");
        CHECK(rig.wrong_output(64 * 30 + 3) == "");
      }
}

TEST_CASE("a lane may be able to do more jobs at once than there are slots") {
  for (const std::uint64_t shared : {0, 64 * 20}) {
    Rig rig({.size = 64 * 20 + 9, .slots = 1, .source = {.shared = shared}});
    rig.add_lanes(1, {.depth = 3});
    CHECK(rig.run() == "");
    CHECK(rig.wrong_output(64 * 20 + 9) == "");
  }
}

TEST_CASE("random pipelines give libcrypto's output") {
  const std::uint64_t seed = std::random_device{}();
  const Jitter random(seed);
  const auto one_of = [&](const auto&... values) {
    const std::array all{static_cast<std::size_t>(values)...};
    return all[random.random() % all.size()];
  };
  for (int number = 0; number < 150; ++number) {
    const std::size_t chunk_bytes = one_of(16, 48, 64, 256, 4096, 65536);
    const std::size_t size =
        random.random() % (one_of(2, 10, 40) * std::min<std::size_t>(chunk_bytes, 16384));
    const std::size_t read_size = size <= 4096 ? one_of(1, 7, 100, 1 << 20) : one_of(4096, 5000, 1 << 20);
    const std::size_t shared = random.random() % 2 == 0 ? 0 : random.random() % (size + 1);
    const std::size_t slots = 1 + random.random() % 6, lanes = 1 + random.random() % 5;
    CAPTURE(seed, number, chunk_bytes, size, read_size, shared, slots, lanes);
    Rig rig({.size = size,
             .chunk_bytes = chunk_bytes,
             .slots = slots,
             .source = {.read_size = read_size, .shared = shared, .sometimes_late = random.random() % 2 == 0},
             .seed = random.random(),
             .most_delay = std::chrono::microseconds(one_of(0, 50))});
    for (std::size_t i = 0; i < lanes; ++i) rig.add_lanes(1, {.depth = 1 + random.random() % 3});
    CHECK(rig.run() == "");
    CHECK(rig.wrong_output(size) == "");
  }
}

TEST_CASE("what lanes did adds up to the input") {
  Rig rig({.size = 64 * 50, .seed = 1, .most_delay = std::chrono::microseconds(50)});
  rig.add_lanes(3, {.depth = 2});
  CHECK(rig.run() == "");
  std::uint64_t chunks = 0, bytes = 0;
  const std::vector<LaneStats> all = rig.pipeline.lane_stats();
  CHECK(all.size() == 3);
  for (const LaneStats& stats : all) {
    CHECK(stats.name == "scripted");
    CHECK(stats.busy_seconds >= 0);
    CHECK((stats.chunks == 0 || stats.busy_seconds > 0));
    chunks += stats.chunks;
    bytes += stats.bytes;
  }
  CHECK(bytes == 64 * 50);
  CHECK(chunks >= 50);
}

TEST_CASE("a pipeline that never runs goes with its lanes") {
  Rig rig({.size = 100});
  rig.add_lanes(3);
}

// Input that comes slowly -------------------------------------------------------------------------

TEST_CASE("what has come goes through before the chunk is full, in whole units") {
  for (const std::size_t come : {16, 17, 32, 100}) {
    CAPTURE(come);
    Rig rig({.size = 4096, .chunk_bytes = 4096, .source = {.stall_at = come}});
    rig.add_lanes(2);
    auto ended = in_thread([&] { return rig.run(); });
    CHECK(comes_true([&] { return rig.sink.size() == whole(come, unit); }));
    CHECK(is_waiting(ended));
    rig.cancel.request(SIGTERM);
    CHECK(result_of(std::move(ended)) == "cancelled: 15");
    CHECK(rig.wrong_output(whole(come, unit)) == "");
  }
}

TEST_CASE("less than a unit waits for the rest of it") {
  Rig rig({.size = 4096, .chunk_bytes = 4096, .source = {.stall_at = 15}});
  rig.add_lanes(1);
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(is_waiting(ended));
  CHECK(rig.sink.size() == 0);
  rig.cancel.request(SIGTERM);
  CHECK(result_of(std::move(ended)) == "cancelled: 15");
}

namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> fds{};
    REQUIRE(pipe2(fds.data(), O_CLOEXEC) == 0);
    reader = Fd(fds[0]);
    writer = Fd(fds[1]);
  }
  Fd reader{-1}, writer{-1};
};

void put(const Fd& fd, std::span<const std::byte> bytes) {
  REQUIRE(write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
}

}  // namespace

TEST_CASE("a pipe that is fed by and by comes out by and by, and units stay whole") {
  Rig rig({.chunk_bytes = 4096});
  Pipe pipe;
  FdSource source(std::move(pipe.reader), "pipe", rig.cancel);
  Pipeline pipeline(rig.parts(source, rig.sink));
  pipeline.add_lane(rig.lane());
  auto ended = in_thread([&] { return failure_of([&] { pipeline.run(); }); });
  const Bytes input = test_bytes(100);
  std::size_t fed = 0;
  for (const std::size_t piece : {20, 1, 10, 1, 40, 28}) {
    put(pipe.writer, std::span(input).subspan(fed, piece));
    fed += piece;
    CAPTURE(fed);
    CHECK(comes_true([&] { return rig.sink.size() == whole(fed, unit); }));
  }
  pipe.writer.close();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(100) == "");
}

TEST_CASE("what a chunk got beyond its whole units does not stay in its memory") {
  for (const std::size_t come : {15, 100, 4095}) {
    CAPTURE(come);
    Rig rig({.size = 5000, .chunk_bytes = 4096, .slots = 1, .source = {.fail_at = come}});
    rig.add_lanes(1);
    CHECK(contains(rig.run(), "io: "));
    const auto beyond = rig.ring.memory().first(4096).subspan(whole(come, unit));
    CHECK(difference(beyond, Bytes(beyond.size())) == "");
  }
}

// Ends that fail ----------------------------------------------------------------------------------

TEST_CASE("input that cannot be read on: all whole units before it come out, then the error, every time") {
  const std::size_t size = 1000;
  for (const std::size_t fail_at : {0, 1, 15, 16, 17, 63, 64, 65, 100, 640, 999, 1000})
    for (std::uint64_t repeat = 0; repeat < 20; ++repeat) {
      CAPTURE(fail_at, repeat);
      Rig rig({.size = size,
               .slots = 1 + repeat % 4,
               .source = {.read_size = 1 + repeat * 7, .fail_at = fail_at, .sometimes_late = true},
               .seed = repeat,
               .most_delay = std::chrono::microseconds(30)});
      rig.add_lanes(1 + repeat % 3, {.depth = 1 + repeat % 2});
      CHECK(rig.run() == "io: the source fails at byte " + std::to_string(fail_at));
      CHECK(rig.wrong_output(whole(fail_at, unit)) == "");
      CHECK(rig.pipeline.bytes_out() == whole(fail_at, unit));
    }
}

TEST_CASE("input that lanes cannot read: all chunks before it come out, then the error, every time") {
  const std::size_t size = 1000, chunk_bytes = 64;
  for (const std::size_t fail_at : {0, 1, 63, 64, 65, 640, 991})
    for (std::uint64_t repeat = 0; repeat < 20; ++repeat) {
      CAPTURE(fail_at, repeat);
      Rig rig({.size = size,
               .chunk_bytes = chunk_bytes,
               .slots = 1 + repeat % 6,
               .source = {.shared = size, .fail_at = fail_at},
               .seed = repeat,
               .most_delay = std::chrono::microseconds(30)});
      rig.add_lanes(1 + repeat % 4, {.depth = 1 + repeat % 3});
      CHECK(rig.run() == "io: the source fails at byte " + std::to_string(fail_at));
      CHECK(rig.wrong_output(whole(fail_at, chunk_bytes)) == "");
    }
}

TEST_CASE("input that fails behind what lanes read is an error behind all of that") {
  for (const std::size_t fail_at : {992, 995, 1000, 1010}) {
    CAPTURE(fail_at);
    Rig rig({.size = 1100, .source = {.shared = 1000, .fail_at = fail_at}});
    rig.add_lanes(2);
    CHECK(rig.run() == "io: the source fails at byte " + std::to_string(fail_at));
    CHECK(rig.wrong_output(whole(fail_at, unit)) == "");
  }
}

TEST_CASE("output that cannot be written ends the run with the sink's error") {
  for (const std::size_t fail_at : {0, 1, 64, 100, 640, 999})
    for (std::uint64_t repeat = 0; repeat < 5; ++repeat) {
      CAPTURE(fail_at, repeat);
      Rig rig({.size = 1000,
               .slots = 1 + repeat,
               .source = {.shared = repeat % 2 * 1000},
               .sink_fails_at = fail_at,
               .seed = repeat,
               .most_delay = std::chrono::microseconds(30)});
      rig.add_lanes(1 + repeat % 3, {.depth = 2});
      CHECK(rig.run() == "io: the sink fails at byte " + std::to_string(fail_at));
      CHECK(rig.wrong_output(fail_at) == "");
    }
}

TEST_CASE("a sink that fails does not wait for a source from which nothing comes") {
  Rig rig({.size = 4096, .source = {.stall_at = 100}, .sink_fails_at = 50});
  rig.add_lanes(2, {.on_finish = [&](std::uint64_t) { comes_true([&] { return rig.source.stalled(); }); }});
  CHECK(result_of(in_thread([&] { return rig.run(); })) == "io: the sink fails at byte 50");
}

TEST_CASE("of two errors the one that is first in the stream is thrown, every time") {
  for (std::uint64_t repeat = 0; repeat < 20; ++repeat) {
    CAPTURE(repeat);
    const std::chrono::microseconds delay(50);
    {
      Rig rig({.size = 2000,
               .source = {.shared = repeat % 2 * 2000, .fail_at = 640},
               .sink_fails_at = 1500,
               .seed = repeat,
               .most_delay = delay});
      rig.add_lanes(3);
      CHECK(rig.run() == "io: the source fails at byte 640");
    }
    Rig rig({.size = 2000,
             .source = {.fail_at = 640},
             .sink_fails_at = 300,
             .seed = repeat,
             .most_delay = delay});
    rig.add_lanes(3);
    CHECK(rig.run() == "io: the sink fails at byte 300");
  }
}

// Lanes that fail ---------------------------------------------------------------------------------

TEST_CASE("a lane that fails loses nothing while others are left") {
  for (const std::uint64_t job : {0, 1, 5})
    for (const bool at_start : {true, false})
      for (const std::size_t depth : {1, 2, 3}) {
        CAPTURE(job, at_start, depth);
        Rig rig({.size = 64 * 60 + 7, .seed = job, .most_delay = std::chrono::microseconds(50)});
        LaneScript script{.depth = depth};
        (at_start ? script.on_start : script.on_finish) = fail_at_job(job);
        rig.add_lanes(1, script);
        rig.add_lanes(2);
        CHECK(rig.run() == "");
        CHECK(rig.wrong_output(64 * 60 + 7) == "");
        CHECK(rig.warnings() <= 1);  // none where it never came to that job
      }
}

TEST_CASE("a lane that fails with several jobs under way gives all of them back") {
  for (const std::size_t under_way : {1, 2, 3})
    for (const std::uint64_t shared : {0, 64 * 20}) {
      CAPTURE(under_way, shared);
      Rig rig({.size = 64 * 20, .slots = 4, .source = {.shared = shared}});
      std::size_t started = 0;
      Gate failed;
      LaneScript failing{.depth = 3};
      failing.on_start = [&](std::uint64_t job) {
        rig.ring.wait_for_input(64 * 4);  // from here on there are jobs for it to start
        started = job + 1;
        if (started < under_way) return;
        failed.open();
        throw LaneError("the device is lost");
      };
      rig.add_lanes(1, failing);
      rig.add_lanes(1, {.on_start = [&](std::uint64_t) { failed.wait(); }});
      CHECK(result_of(in_thread([&] { return rig.run(); })) == "");
      CHECK(rig.wrong_output(64 * 20) == "");
      CHECK(started == under_way);
      CHECK(rig.warnings() == 1);
    }
}

TEST_CASE("lanes that fail one after the other lose nothing") {
  for (std::uint64_t repeat = 0; repeat < 20; ++repeat) {
    CAPTURE(repeat);
    Rig rig({.size = 64 * 60,
             .slots = 1 + repeat % 5,
             .source = {.shared = repeat % 2 * 64 * 60},
             .seed = repeat,
             .most_delay = std::chrono::microseconds(50)});
    for (std::uint64_t i = 0; i < 4; ++i) rig.add_lanes(1, {.depth = 1 + i % 3, .on_finish = fail_at_job(i)});
    rig.add_lanes(1, {.depth = 2});
    CHECK(rig.run() == "");
    CHECK(rig.wrong_output(64 * 60) == "");
  }
}

TEST_CASE("when the last lane fails a spare one goes on, with a warning for each that failed") {
  for (const std::uint64_t lanes : {1, 3})
    for (const std::uint64_t job : {0, 2}) {
      CAPTURE(lanes, job);
      int spares = 0;
      const auto make_spare = [&spares] {
        ++spares;
        return make_cpu_lane();
      };
      Rig rig({.size = 64 * 60 + 1, .spare_lane = make_spare});
      rig.add_lanes(lanes, {.depth = 2, .on_finish = fail_at_job(job)});
      CHECK(rig.run() == "");
      CHECK(rig.wrong_output(64 * 60 + 1) == "");
      CHECK(spares == 1);
      CHECK(rig.warnings() == lanes);
      CHECK(contains(rig.warned.front(), "scripted"));
      CHECK(contains(rig.warned.front(), "the lane fails at job"));
    }
}

TEST_CASE("when all lanes and the spare fail that is the program's error, and what came out is right") {
  for (std::uint64_t repeat = 0; repeat < 20; ++repeat) {
    CAPTURE(repeat);
    const Jitter none;
    const auto failing_spare = [&none]() -> std::unique_ptr<Lane> {
      return std::make_unique<ScriptedLane>(make_cpu_lane(), LaneScript{.on_finish = fail_at_job(4)}, none);
    };
    Rig rig({.size = 64 * 60,
             .source = {.shared = repeat % 2 * 64 * 60},
             .spare_lane = failing_spare,
             .seed = repeat,
             .most_delay = std::chrono::microseconds(30)});
    rig.add_lanes(2, {.depth = 1 + repeat % 3, .on_finish = fail_at_job(2)});
    CHECK(result_of(in_thread([&] { return rig.run(); })) == "lane: the lane fails at job 4");
    CHECK(rig.sink.size() % 64 == 0);
    CHECK(rig.sink.size() <= 64 * 8);
    CHECK(rig.wrong_output(rig.sink.size()) == "");
  }
}

TEST_CASE("when the spare lane cannot open, or there is none, the run ends with the lane's error") {
  const auto cannot_open = []() -> std::unique_ptr<Lane> { throw LaneError("no spare lane"); };
  {
    Rig rig({.size = 64 * 60, .spare_lane = cannot_open});
    rig.add_lanes(2, {.on_finish = fail_at_job(1)});
    CHECK(result_of(in_thread([&] { return rig.run(); })) == "lane: no spare lane");
  }
  Rig rig({.size = 64 * 60});
  rig.add_lanes(2, {.on_start = fail_at_job(1)});
  CHECK(result_of(in_thread([&] { return rig.run(); })) == "lane: the lane fails at job 1");
}

TEST_CASE("when all lanes have failed the run does not wait for a source from which nothing comes") {
  Rig rig({.size = 4096, .source = {.stall_at = 100}});
  rig.add_lanes(2, {.on_finish = [&](std::uint64_t) {
                  comes_true([&] { return rig.source.stalled(); });
                  throw LaneError("the device is lost");
                }});
  CHECK(result_of(in_thread([&] { return rig.run(); })) == "lane: the device is lost");
}

TEST_CASE("an error of the input stays in its chunk when the lane that found it fails") {
  Rig rig({.size = 640, .slots = 2, .source = {.shared = 640, .fail_at = 64}, .spare_lane = make_cpu_lane});
  rig.add_lanes(1, {.on_start = fail_at_job(1)});  // job 1 is the chunk that cannot be read
  CHECK(rig.run() == "io: the source fails at byte 64");
  CHECK(rig.wrong_output(64) == "");
}

// Lanes that come and go --------------------------------------------------------------------------

TEST_CASE("a run waits for its first lane") {
  Rig rig({.size = 1000});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(is_waiting(ended));
  rig.add_lanes(1);
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(1000) == "");
}

TEST_CASE("a lane that comes during the run takes part, and one that comes after it does no harm") {
  Rig rig({.size = 64 * 20});
  Gate added;
  rig.add_lanes(1, {.on_finish = [&](std::uint64_t) { added.wait(); }});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(added.comes(1));
  rig.add_lanes(1);
  added.open();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(64 * 20) == "");
  CHECK(rig.pipeline.lane_stats().size() == 2);
  rig.add_lanes(1);
  CHECK(rig.pipeline.lane_stats().size() == 2);
}

TEST_CASE("dismissed lanes leave after the jobs they are at, and those that were added do the rest") {
  Rig rig({.size = 64 * 40 + 5});
  Gate added;
  rig.add_lanes(2, {.on_finish = [&](std::uint64_t) { added.wait(); }});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(added.comes(2));
  rig.pipeline.dismiss_lanes();
  rig.add_lanes(1);
  added.open();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(64 * 40 + 5) == "");
  const std::vector<LaneStats> stats = rig.pipeline.lane_stats();
  CHECK(stats[0].chunks == 1);
  CHECK(stats[1].chunks == 1);
  CHECK(stats[2].chunks == 39);
}

TEST_CASE("lanes are dismissed at any moment without loss") {
  const std::uint64_t seed = std::random_device{}();
  const Jitter random(seed);
  for (int repeat = 0; repeat < 40; ++repeat) {
    CAPTURE(seed, repeat);
    const std::size_t size = 64 * 80 + repeat % 16u;
    Rig rig({.size = size,
             .slots = 1 + random.random() % 5,
             .source = {.shared = random.random() % 2 * size},
             .seed = random.random(),
             .most_delay = std::chrono::microseconds(50)});
    rig.add_lanes(1 + random.random() % 3, {.depth = 1 + random.random() % 3});
    auto ended = in_thread([&] { return rig.run(); });
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(random.random() % 1000));
      rig.pipeline.dismiss_lanes();
      rig.add_lanes(random.random() % 3, {.depth = 1 + random.random() % 3});
    }
    CHECK(result_of(std::move(ended)) == "");
    CHECK(rig.wrong_output(size) == "");
  }
}

TEST_CASE("of dismissed lanes the last one stays where nobody takes over") {
  for (const std::size_t lanes : {1, 3}) {
    CAPTURE(lanes);
    Rig rig({.size = 64 * 40});
    rig.add_lanes(lanes, {.depth = 2});
    rig.pipeline.dismiss_lanes();
    CHECK(result_of(in_thread([&] { return rig.run(); })) == "");
    CHECK(rig.wrong_output(64 * 40) == "");
  }
}

TEST_CASE("a dismissed lane stays when those that were to take over fail before it has left") {
  Rig rig({.size = 64 * 40});
  Gate failed;
  rig.add_lanes(1, {.on_finish = [&](std::uint64_t) { failed.wait(); }});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(failed.comes(1));
  rig.pipeline.dismiss_lanes();
  rig.add_lanes(2, {.on_finish = fail_at_job(0)});
  CHECK(comes_true([&] { return rig.warnings() == 2; }));
  failed.open();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(64 * 40) == "");
}

TEST_CASE("a spare lane goes on when those fail that took over from lanes which have left") {
  for (std::uint64_t repeat = 0; repeat < 20; ++repeat) {
    CAPTURE(repeat);
    Rig rig({.size = 64 * 40,
             .spare_lane = make_cpu_lane,
             .seed = repeat,
             .most_delay = std::chrono::microseconds(repeat % 2 * 50)});
    rig.add_lanes(2, {.depth = 2});
    auto ended = in_thread([&] { return rig.run(); });
    rig.pipeline.dismiss_lanes();
    rig.add_lanes(2, {.depth = 1 + repeat % 3, .on_finish = fail_at_job(repeat % 4)});
    CHECK(result_of(std::move(ended)) == "");
    CHECK(rig.wrong_output(64 * 40) == "");
  }
}

TEST_CASE("a dismissed lane that fails gives its jobs to those that were added") {
  Rig rig({.size = 64 * 40, .spare_lane = make_cpu_lane});
  Gate dismissed;
  rig.add_lanes(1, {.depth = 2, .on_finish = [&](std::uint64_t) {
                      dismissed.wait();
                      throw LaneError("too late");
                    }});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(dismissed.comes(1));
  rig.pipeline.dismiss_lanes();
  rig.add_lanes(1);
  dismissed.open();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(rig.wrong_output(64 * 40) == "");
  CHECK(rig.warnings() == 1);
}

// Stopping ----------------------------------------------------------------------------------------

TEST_CASE("a request to stop ends a run whose source waits in a pipe") {
  Rig rig({.chunk_bytes = 4096});
  Pipe pipe;
  FdSource source(std::move(pipe.reader), "pipe", rig.cancel);
  put(pipe.writer, test_bytes(100));
  Pipeline pipeline(rig.parts(source, rig.sink));
  for (int i = 0; i < 2; ++i) pipeline.add_lane(rig.lane());
  auto ended = in_thread([&] { return failure_of([&] { pipeline.run(); }); });
  CHECK(comes_true([&] { return rig.sink.size() == 96; }));
  CHECK(is_waiting(ended));
  rig.cancel.request(SIGINT);
  CHECK(result_of(std::move(ended)) == "cancelled: " + std::to_string(SIGINT));
  CHECK(rig.wrong_output(96) == "");
}

TEST_CASE("a request to stop ends a run whose sink waits for a reader") {
  for (const std::size_t shared : {std::size_t{0}, std::size_t{8} << 20}) {
    CAPTURE(shared);
    Rig rig({.size = 8 << 20, .chunk_bytes = 65536, .source = {.shared = shared}});
    Pipe pipe;
    FdSink sink(std::move(pipe.writer), "pipe", rig.cancel, true);
    Pipeline pipeline(rig.parts(rig.source, sink));
    for (int i = 0; i < 2; ++i) pipeline.add_lane(rig.lane());
    auto ended = in_thread([&] { return failure_of([&] { pipeline.run(); }); });
    CHECK(is_waiting(ended));
    CHECK(is_waiting(ended));
    rig.cancel.request(SIGHUP);
    CHECK(result_of(std::move(ended)) == "cancelled: " + std::to_string(SIGHUP));
  }
}

TEST_CASE("a run that was to stop before it began ends at once") {
  Rig rig({.chunk_bytes = 4096});
  Pipe in, out;
  FdSource source(std::move(in.reader), "in", rig.cancel);
  FdSink sink(std::move(out.writer), "out", rig.cancel, true);
  Pipeline pipeline(rig.parts(source, sink));
  pipeline.add_lane(rig.lane());
  rig.cancel.request(SIGTERM);
  CHECK(result_of(in_thread([&] { return failure_of([&] { pipeline.run(); }); })) == "cancelled: 15");
}

TEST_CASE("a run may be stopped at any moment") {
  const std::uint64_t seed = std::random_device{}();
  const Jitter random(seed);
  const TempDir directory;
  write_file(directory / "file", test_bytes(4 << 20));
  for (int repeat = 0; repeat < 40; ++repeat) {
    CAPTURE(seed, repeat);
    Rig rig({.chunk_bytes = 16384});
    FdSource source(open_file(directory / "file", O_RDONLY, rig.cancel), "file", rig.cancel);
    FdSink sink(open_file("/dev/null", O_WRONLY, rig.cancel), "null", rig.cancel, true);
    Pipeline pipeline(rig.parts(source, sink));
    for (int i = 0; i < 3; ++i) pipeline.add_lane(make_cpu_lane());
    auto ended = in_thread([&] { return failure_of([&] { pipeline.run(); }); });
    std::this_thread::sleep_for(std::chrono::microseconds(random.random() % 8000));
    rig.cancel.request(SIGTERM);
    const std::string failure = result_of(std::move(ended));
    CHECK((failure == "" || failure == "cancelled: 15"));
  }
}

TEST_CASE("a file comes through real descriptors as libcrypto would have it") {
  const TempDir directory;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{65536}, std::size_t{65537}, std::size_t{1000003}}) {
    CAPTURE(size);
    write_file(directory / "in", test_bytes(size));
    {
      Rig rig({.chunk_bytes = 4096});
      FdSource source(open_file(directory / "in", O_RDONLY, rig.cancel), "in", rig.cancel);
      FdSink sink(open_file(directory / "out", O_WRONLY | O_CREAT | O_TRUNC, rig.cancel), "out", rig.cancel,
                  true);
      Pipeline pipeline(rig.parts(source, sink));
      for (int i = 0; i < 2; ++i) pipeline.add_lane(make_cpu_lane());
      CHECK(failure_of([&] { pipeline.run(); }) == "");
      sink.finish();
    }
    CHECK(difference(read_file(directory / "out"), expected_output(size)) == "");
  }
}

}  // namespace gpuaes
