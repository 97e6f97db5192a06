// Tests CUDA lanes in counter mode against libcrypto, and what happens around their jobs. Needs a GPU.
// tests/cli/ runs them in pipelines.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "lane/backends.hpp"
#include "pipeline/ring.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/counters.hpp"
#include "support/keys.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

constexpr std::byte untouched{0xa5};

// Memory laid out like a ring: `chunks` inputs and outputs of `bytes`.
class Area {
 public:
  Area(std::size_t chunks, std::size_t bytes) : ring_(chunks, bytes, bytes) {
    Waiter waiter;
    for (std::size_t i = 0; i < chunks; ++i) {
      chunks_.push_back(ring_.take(waiter, {.start = true, .wait = false}, {}).chunk);
      ring_.filled(*chunks_.back(), false);
    }
  }
  LaneSetup memory() const { return {ring_.memory(), ring_.in_bytes()}; }
  std::span<std::byte> in(std::size_t i) const { return chunks_.at(i)->in_memory; }
  std::span<std::byte> out(std::size_t i) const { return chunks_.at(i)->out_memory; }

 private:
  Ring ring_;
  std::vector<Chunk*> chunks_;
};

std::vector<std::unique_ptr<Lane>> open_streams(unsigned streams, const LaneSetup& memory,
                                                unsigned device = 0) {
  const LaneSpec spec{Backend::cuda, device, streams};
  return open_lanes({&spec, 1}, memory);
}

std::unique_ptr<Lane> open_lane(const LaneSetup& memory) {
  return std::move(open_streams(1, memory).at(0));
}

// A job in flight in a part of an area, with its expected output.
struct Pending {
  std::span<const std::byte> out;  // with the bytes after it, which must stay unchanged
  Bytes expected;
};

Pending start(Lane& lane, const Area& area, std::size_t part, const CipherKey& key, Counter counter,
              std::size_t size, std::size_t from = 0) {
  const Bytes in = test_bytes(size, from);
  std::ranges::copy(in, area.in(part).begin());
  std::ranges::fill(area.out(part), untouched);
  lane.start({.key = &key,
              .in = area.in(part).first(size),
              .out = area.out(part).first(size),
              .counter = store_counter(counter)});
  return {area.out(part), libcrypto_ctr(key.bytes.bytes(), store_counter(counter), in)};
}

// Finishes the oldest job. Returns what is wrong with it, or nothing.
std::string finish(Lane& lane, const Pending& job) {
  lane.finish();
  const auto guard = job.out.subspan(job.expected.size());
  if (!std::ranges::all_of(guard, [](std::byte byte) { return byte == untouched; }))
    return "wrote past its output";
  return difference(job.out.first(job.expected.size()), job.expected);
}

// Runs jobs, two at a time, as start_job(i) starts them. Returns what is wrong with them, or nothing.
template <class StartJob>
std::string run_two_at_a_time(Lane& lane, std::size_t count, StartJob start_job) {
  std::string wrong;
  Pending older = start_job(std::size_t{0});
  for (std::size_t i = 1; i < count; ++i) {
    const Pending newer = start_job(i);
    wrong += finish(lane, older);
    older = newer;
  }
  return wrong + finish(lane, older);
}

}  // namespace

TEST_CASE("a CUDA lane matches libcrypto for every length and counter carry", "[gpu]") {
  const Area area(1, 65537 + 64);
  const CipherKey keys[] = {make_key(test_bytes(16)), make_key(test_bytes(24)), make_key(test_bytes(32))};
  const auto lane = open_lane(area.memory());
  std::vector<std::size_t> lengths{63, 64, 65, 4095, 4096, 4097, 65535, 65536, 65537};
  for (std::size_t i = 0; i <= 33; ++i) lengths.push_back(i);
  for (const CipherKey& key : keys)
    for (const std::size_t length : lengths)
      for (const Counter& counter : carrying_counters) {
        CAPTURE(key.bytes.size(), length, counter.high, counter.low);
        CHECK(finish(*lane, start(*lane, area, 0, key, counter, length)) == "");
      }
}

TEST_CASE("a CUDA lane runs two jobs at a time and finishes them in order", "[gpu]") {
  const Area area(3, 1 << 20);
  const CipherKey key = make_key(test_bytes(32));
  const auto lane = open_lane(area.memory());
  REQUIRE(lane->depth() == 2);
  CHECK(run_two_at_a_time(*lane, 50, [&](std::size_t i) {
          return start(*lane, area, i % 3, key, {i, all - i}, (1 << 20) - i, i);
        }) == "");
}

TEST_CASE("a CUDA lane accepts another key while a job with the previous one is in flight", "[gpu]") {
  const Area area(3, 1 << 18);
  const CipherKey keys[] = {make_key(test_bytes(32, 1)), make_key(test_bytes(16, 2)),
                            make_key(test_bytes(32, 3))};
  const auto lane = open_lane(area.memory());
  CHECK(run_two_at_a_time(*lane, 50, [&](std::size_t i) {
          return start(*lane, area, i % 3, keys[i % 7 % 3], {0, i}, 1 << 18);
        }) == "");
}

TEST_CASE("a CUDA lane runs jobs of any length up to the maximum it was opened for", "[gpu]") {
  const std::size_t longest = (4 << 20) + 16;
  const Area area(2, longest);
  const CipherKey key = make_key(test_bytes(24));
  const auto lane = open_lane(area.memory());
  const std::uint64_t seed = std::random_device{}();
  const Jitter random(seed);
  std::vector<std::size_t> sizes{longest, 0, 1, longest - 1, 16, longest};
  for (int i = 0; i < 30; ++i) sizes.push_back(random.random() % (longest + 1));
  for (const std::size_t size : sizes) {
    CAPTURE(seed, size);
    CHECK(finish(*lane, start(*lane, area, size % 2, key, {random.random(), random.random()}, size)) == "");
  }
}

TEST_CASE("CUDA lanes work in parallel, each driven by its own thread", "[gpu]") {
  const Area area(8, 1 << 20);
  const CipherKey key = make_key(test_bytes(32));
  auto lanes = open_streams(4, area.memory());
  REQUIRE(lanes.size() == 4);
  std::vector<std::future<std::string>> threads;
  for (std::size_t i = 0; i < 4; ++i)
    threads.push_back(in_thread([&, i] {
      return run_two_at_a_time(*lanes[i], 30, [&, i](std::size_t job) {
        return start(*lanes[i], area, 2 * i + job % 2, key, {i, all - job}, (1 << 20) - 16 * i, job);
      });
    }));
  for (auto& thread : threads) CHECK(thread.get() == "");
}

TEST_CASE("a CUDA lane destroyed with jobs in flight no longer writes to their memory", "[gpu]") {
  const Area area(2, 4 << 20);
  const CipherKey key = make_key(test_bytes(32));
  for (int repeat = 0; repeat < 5; ++repeat) {
    auto lane = open_lane(area.memory());
    for (const std::size_t part : {0, 1}) start(*lane, area, part, key, {}, 4 << 20);
    lane.reset();
    for (const std::size_t part : {0, 1}) std::ranges::fill(area.out(part), untouched);
    std::this_thread::sleep_for(a_while);
    for (const std::size_t part : {0, 1})
      CHECK(std::ranges::all_of(area.out(part), [](std::byte byte) { return byte == untouched; }));
  }
}

TEST_CASE("CUDA lanes open for memory that is already pinned", "[gpu]") {
  const Area area(1, 1 << 20);
  const CipherKey key = make_key(test_bytes(32));
  const auto first = open_lane(area.memory());
  auto second = open_lane(area.memory());
  for (Lane* lane : {first.get(), second.get()})
    CHECK(finish(*lane, start(*lane, area, 0, key, {}, 1 << 20)) == "");
  second.reset();
  CHECK(finish(*first, start(*first, area, 0, key, {}, 1 << 20)) == "");
}

TEST_CASE("a CUDA lane works on memory that is not pinned", "[gpu]") {
  const auto lane = open_lane({{}, 1 << 20});
  const Area unpinned(3, 1 << 20);
  const CipherKey key = make_key(test_bytes(16));
  CHECK(run_two_at_a_time(*lane, 12, [&](std::size_t i) {
          return start(*lane, unpinned, i % 3, key, {all, all}, (1 << 20) - 7 * i);
        }) == "");
}

namespace {

using Clock = std::chrono::steady_clock;

// Returns what is wrong with the phases of a job that ran between these times, or nothing. Adds their lengths
// to `total`.
std::string check_phases(std::span<const Phase> phases, Clock::time_point began, Clock::time_point finished,
                         std::array<Clock::duration, 4>& total) {
  constexpr std::array<std::string_view, 4> names{"queue", "H2D", "kernel", "D2H"};
  if (phases.size() != names.size()) return "not four phases";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (phases[i].name != names[i]) return "another phase than it should be";
    if (phases[i].begin < began || phases[i].end < phases[i].begin) return "phases out of order";
    total[i] += phases[i].end - phases[i].begin;
    began = phases[i].end;
  }
  return finished < began ? "a phase after the job" : "";
}

}  // namespace

TEST_CASE("a timed CUDA lane reports each job's phases in order, between its start and its finish", "[gpu]") {
  const Area area(3, 1 << 20);
  const CipherKey key = make_key(test_bytes(32));
  LaneSetup memory = area.memory();
  memory.timed = true;
  const auto lane = open_lane(memory);
  Clock::time_point older_began = Clock::now();
  Pending older = start(*lane, area, 0, key, {}, 1 << 20);
  const Clock::time_point end = Clock::now() + std::chrono::seconds(3);  // long enough for a new base
  std::array<Clock::duration, 4> total{};
  for (std::size_t i = 1; i < 50 || Clock::now() < end; ++i) {
    CAPTURE(i);
    const Clock::time_point began = Clock::now();
    const Pending newer = start(*lane, area, i % 3, key, {}, 1 << 20);
    REQUIRE(finish(*lane, older) == "");
    REQUIRE(check_phases(lane->phases(), older_began, Clock::now(), total) == "");
    older = newer;
    older_began = began;
  }
  CHECK(finish(*lane, older) == "");
  for (const std::size_t phase : {1, 2, 3}) CHECK(total[phase].count() > 0);
}

}  // namespace gpuaes
