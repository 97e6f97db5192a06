// The pipeline with a real session: every byte passes through regardless of timing, and errors are the same
// in every run.
#include "pipeline/pipeline.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/fd_source_sink.hpp"
#include "lane/backends.hpp"
#include "pipeline/rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"
#include "support/scripted_lane.hpp"
#include "support/spy.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

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

// Normal runs -------------------------------------------------------------------------------------

TEST_CASE(
    "the output matches libcrypto's for sizes around every boundary, however much lanes read themselves") {
  for (const std::size_t chunk_bytes : {16, 64, 4096, 65536})
    for (const std::size_t size : sizes_around(chunk_bytes))
      for (const std::size_t parallel : {std::size_t{0}, size / 3 + 1, size / 2, size - size / 3, size})
        for (const auto& [ring_chunks, lanes] : {std::pair(1u, 1u), {2, 3}, {5, 3}}) {
          if (parallel > size) continue;
          CAPTURE(chunk_bytes, size, parallel, ring_chunks, lanes);
          Rig rig({.size = size,
                   .chunk_bytes = chunk_bytes,
                   .ring_chunks = ring_chunks,
                   .source = {.parallel = parallel}});
          rig.add_lanes(lanes);
          CHECK(rig.run() == "");
          CHECK(rig.wrong_output(size) == "");
          CHECK(rig.pipeline.bytes_in() == size);
          CHECK(rig.pipeline.bytes_out() == size);
          CHECK(rig.warnings() == 0);
        }
}

TEST_CASE("random pipelines produce libcrypto's output") {
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
    const std::size_t parallel = random.random() % 2 == 0 ? 0 : random.random() % (size + 1);
    const std::size_t ring_chunks = 1 + random.random() % 6, lanes = 1 + random.random() % 5;
    CAPTURE(seed, number, chunk_bytes, size, read_size, parallel, ring_chunks, lanes);
    Rig rig(
        {.size = size,
         .chunk_bytes = chunk_bytes,
         .ring_chunks = ring_chunks,
         .source = {.read_size = read_size, .parallel = parallel, .sometimes_late = random.random() % 2 == 0},
         .seed = random.random(),
         .max_delay = std::chrono::microseconds(one_of(0, 50))});
    for (std::size_t i = 0; i < lanes; ++i) rig.add_lanes(1, {.depth = 1 + random.random() % 3});
    CHECK(rig.run() == "");
    CHECK(rig.wrong_output(size) == "");
  }
}

namespace {

// A format whose output is larger than its input: each byte twice.
class TwiceSession : public Session {
 public:
  Cipher cipher() const override { return Cipher::aes_256; }
  std::size_t unit_in() const override { return 16; }
  std::size_t unit_out() const override { return 32; }
  std::size_t output_size(std::size_t in_size, bool) const override { return 2 * in_size; }
  Job job(const Piece& piece) const override { return {.in = piece.in, .out = piece.out}; }
};

class TwiceLane : public Lane {
 public:
  std::string name() const override { return "twice"; }
  void start(const Job& job) override {
    for (std::size_t i = 0; i < job.in.size(); ++i) job.out[2 * i] = job.out[2 * i + 1] = job.in[i];
  }
  std::optional<std::size_t> finish() override { return std::nullopt; }
};

Bytes twice(const Bytes& bytes) {
  Bytes result;
  for (const std::byte byte : bytes) result.insert(result.end(), 2, byte);
  return result;
}

}  // namespace

TEST_CASE("an output larger than its input has its own memory, even when lanes read the input") {
  for (const std::size_t size : {0, 1, 64, 1000})
    for (const std::size_t parallel : {std::size_t{0}, size / 2, size})
      for (const bool fails : {false, true}) {
        CAPTURE(size, parallel, fails);
        Rig rig({.size = size, .source = {.parallel = parallel}});
        const TwiceSession session;
        Ring ring(3, 64, 128);
        Pipeline pipeline({.ring = ring,
                           .source = rig.source,
                           .sink = rig.sink,
                           .session = session,
                           .cancel = rig.cancel,
                           .fallback_lane = [] { return std::make_unique<TwiceLane>(); },
                           .warn = [](const std::string&) {}});
        const LaneScript script{.depth = 2, .on_start = {}, .on_finish = fails ? fail_at_job(3) : nullptr};
        for (int i = 0; i < 2; ++i)
          pipeline.add_lane(
              std::make_unique<ScriptedLane>(std::make_unique<TwiceLane>(), script, rig.jitter));
        CHECK(failure_of([&] { pipeline.run(); }) == "");
        CHECK(difference(rig.sink.bytes(), twice(test_bytes(size))) == "");
        CHECK(pipeline.bytes_in() == size);
        CHECK(pipeline.bytes_out() == 2 * size);
      }
}

TEST_CASE("one lane writes while another reads") {
  Rig rig({.size = 64 * 8, .ring_chunks = 3, .source = {.stall_at = 64 * 2}, .sink_waits_at = 64});
  rig.add_lanes(3);
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(eventually([&] { return rig.sink.waits() && rig.source.stalled(); }));
  CHECK(is_waiting(ended));
  rig.cancel.request(SIGTERM);
  CHECK(result_of(std::move(ended)) == "cancelled: 15");
  CHECK(rig.wrong_output(64) == "");
}

// Slow input -------------------------------------------------------------------------------------

TEST_CASE("a lane's chunks are written while no more input arrives") {
  // First exactly whole chunks; then also less than a unit, which no lane may wait for.
  for (const std::size_t arrived : {64, 128, 192, 256, 15, 16, 17, 65, 79, 129, 143, 200})
    for (const std::size_t chunk_bytes : {64, 4096})
      for (const auto& [depth, lanes] : {std::pair(1u, 1u), {1, 2}, {2, 1}, {3, 2}}) {
        CAPTURE(arrived, chunk_bytes, depth, lanes);
        Rig rig({.size = 4096, .chunk_bytes = chunk_bytes, .source = {.read_size = 64, .stall_at = arrived}});
        rig.add_lanes(lanes, {.depth = depth});
        auto ended = in_thread([&] { return rig.run(); });
        CHECK(eventually([&] { return rig.sink.size() == whole(arrived, unit); }));
        CHECK(eventually([&] { return rig.source.stalled(); }));  // an idle thread waits for more
        rig.cancel.request(SIGTERM);
        CHECK(result_of(std::move(ended)) == "cancelled: 15");
        CHECK(rig.wrong_output(whole(arrived, unit)) == "");
      }
}

TEST_CASE("a lane that waits for input does not keep others from writing") {
  Rig rig({.size = 4096, .source = {.stall_at = 128}});
  Gate gate;
  for (int i = 0; i < 2; ++i) rig.add_lanes(1, {.on_finish = [&](std::uint64_t) { gate.wait(); }});
  auto ended = in_thread([&] { return rig.run(); });
  CHECK(gate.reached_by(2));
  rig.add_lanes(1);
  CHECK(eventually([&] { return rig.source.stalled(); }));
  CHECK(rig.sink.size() == 0);
  gate.open();
  CHECK(eventually([&] { return rig.sink.size() == 128; }));
  rig.cancel.request(SIGTERM);
  CHECK(result_of(std::move(ended)) == "cancelled: 15");
  CHECK(rig.wrong_output(128) == "");
}

TEST_CASE("input beyond a chunk's whole units does not stay in its memory") {
  for (const std::size_t arrived : {15, 100, 4095}) {
    CAPTURE(arrived);
    Rig rig({.size = 5000, .chunk_bytes = 4096, .ring_chunks = 1, .source = {.fail_at = arrived}});
    rig.add_lanes(1);
    CHECK(contains(rig.run(), "io: "));
    const auto beyond = rig.ring.memory().first(4096).subspan(whole(arrived, unit));
    CHECK(difference(beyond, Bytes(beyond.size())) == "");
  }
}

// Failing sources and sinks -----------------------------------------------------------------------------

TEST_CASE("the first error in the stream is thrown, after all output before it, every time") {
  struct Case {
    std::uint64_t parallel, source_fails, sink_fails, written;
  };
  std::vector<Case> cases{{0, 640, 300, 300}, {0, 640, 900, 640}, {2000, 640, 900, 640}};
  for (const std::uint64_t at : {0, 1, 15, 16, 17, 63, 64, 65, 100, 640, 999, 1000}) {
    cases.push_back({0, at, never, whole(at, unit)});
    cases.push_back({2000, at, never, whole(at, 64)});
  }
  for (const std::uint64_t at : {992, 995, 1000, 1010})  // after the part that lanes read
    cases.push_back({1000, at, never, whole(at, unit)});
  for (const Case& each : cases)
    for (std::uint64_t repeat = 0; repeat < 20; ++repeat) {
      CAPTURE(each.parallel, each.source_fails, each.sink_fails, repeat);
      Rig rig({.size = 2000,
               .ring_chunks = 1 + repeat % 6,
               .source = {.read_size = 1 + repeat * 7,
                          .parallel = each.parallel,
                          .fail_at = each.source_fails,
                          .sometimes_late = true},
               .sink_fails_at = each.sink_fails,
               .seed = repeat,
               .max_delay = std::chrono::microseconds(30)});
      rig.add_lanes(1 + repeat % 4, {.depth = 1 + repeat % 3});
      const bool sink = each.sink_fails < each.source_fails;
      CHECK(rig.run() == "io: the " + std::string(sink ? "sink" : "source") + " fails at byte " +
                             std::to_string(std::min(each.source_fails, each.sink_fails)));
      CHECK(rig.wrong_output(each.written) == "");
    }
}

TEST_CASE("output that cannot be written ends the run with the sink's error") {
  for (const std::size_t fail_at : {0, 1, 64, 100, 640, 999})
    for (std::uint64_t repeat = 0; repeat < 5; ++repeat) {
      CAPTURE(fail_at, repeat);
      Rig rig({.size = 1000,
               .ring_chunks = 1 + repeat,
               .source = {.parallel = repeat % 2 * 1000},
               .sink_fails_at = fail_at,
               .seed = repeat,
               .max_delay = std::chrono::microseconds(30)});
      rig.add_lanes(1 + repeat % 3, {.depth = 2});
      CHECK(rig.run() == "io: the sink fails at byte " + std::to_string(fail_at));
      CHECK(rig.wrong_output(fail_at) == "");
    }
}

// Stopping ----------------------------------------------------------------------------------------

TEST_CASE("a run leaves no data in the memory of its ring, even if it is stopped in the middle of a chunk") {
  for (const bool stopped : {false, true}) {
    CAPTURE(stopped);
    std::optional<Rig> rig(std::in_place, Setup{.chunk_bytes = 4096});
    const Spy spy(rig->ring.memory());
    {
      PipeFed run(*rig);
      put(run.pipe.writer, test_bytes(100));
      run.pipeline.add_lane(rig->lane());
      auto ended = run.start();
      CHECK(eventually([&] { return rig->sink.size() == 96; }));
      CHECK(is_waiting(ended));  // for more, with 4 bytes in the next chunk
      if (stopped)
        rig->cancel.request(SIGTERM);
      else
        run.pipe.writer.close();
      CHECK(result_of(std::move(ended)) == (stopped ? "cancelled: 15" : ""));
    }
    CHECK(spy.bytes_left() > 0);
    rig.reset();
    CHECK(spy.bytes_left() == 0);
  }
}

TEST_CASE("a run that is stopped before it begins ends immediately") {
  Rig rig({.chunk_bytes = 4096});
  PipeEnds in = make_pipe(), out = make_pipe();
  FdSource source(std::move(in.reader), "in", rig.cancel);
  FdSink sink(std::move(out.writer), "out", rig.cancel);
  Pipeline pipeline(rig.parts(source, sink));
  pipeline.add_lane(rig.lane());
  rig.cancel.request(SIGTERM);
  CHECK(result_of(in_thread([&] { return failure_of([&] { pipeline.run(); }); })) == "cancelled: 15");
}

TEST_CASE("a run can be stopped at any moment") {
  const std::uint64_t seed = std::random_device{}();
  const Jitter random(seed);
  const TempDir directory;
  write_file(directory / "file", test_bytes(4 << 20));
  for (int repeat = 0; repeat < 40; ++repeat) {
    CAPTURE(seed, repeat);
    Rig rig({.chunk_bytes = 16384});
    FdSource source(open_file(directory / "file", O_RDONLY, rig.cancel), "file", rig.cancel);
    FdSink sink(open_file("/dev/null", O_WRONLY, rig.cancel), "null", rig.cancel);
    Pipeline pipeline(rig.parts(source, sink));
    for (int i = 0; i < 3; ++i) pipeline.add_lane(make_cpu_lane());
    auto ended = in_thread([&] { return failure_of([&] { pipeline.run(); }); });
    std::this_thread::sleep_for(std::chrono::microseconds(random.random() % 8000));
    rig.cancel.request(SIGTERM);
    const std::string failure = result_of(std::move(ended));
    CHECK((failure == "" || failure == "cancelled: 15"));
  }
}

TEST_CASE("lanes read large chunks in pieces, but not a small rest by itself") {
  const std::size_t piece = 4 << 20;
  for (const std::size_t size : {piece, piece + 64, 2 * piece, 2 * piece + 64}) {
    CAPTURE(size);
    Rig rig({.size = size, .chunk_bytes = size, .ring_chunks = 1, .source = {.parallel = size}});
    rig.add_lanes(1);
    CHECK(rig.run() == "");
    CHECK(rig.wrong_output(size) == "");
    CHECK(rig.source.read_times(0) == 1);
    CHECK(rig.source.read_times(piece) == (size < 2 * piece ? 0u : 1u));
    CHECK(rig.source.read_times(2 * piece) == 0);
  }
}

}  // namespace gpuaes
