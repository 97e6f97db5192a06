// Tests CUDA lanes against the reference and libcrypto, alone and in a pipeline. Needs a GPU.
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

#include "cipher/modes/segments.hpp"
#include "format/format.hpp"
#include "format/sessions.hpp"
#include "lane/plan.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/ring.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/counters.hpp"
#include "support/errors.hpp"
#include "support/keys.hpp"
#include "support/memory_io.hpp"
#include "support/reference_lane.hpp"
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
      chunks_.push_back(ring_.take(waiter, {.start = true, .wait = false}).chunk);
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

}  // namespace

TEST_CASE("a CUDA lane matches libcrypto and the reference for every length and counter carry", "[gpu]") {
  const Area area(1, 65537 + 64);
  const CipherKey keys[] = {make_key(test_bytes(16)), make_key(test_bytes(24)), make_key(test_bytes(32))};
  const auto lane = open_lane(area.memory());
  const auto reference = make_reference_lane();
  std::vector<std::size_t> lengths{63, 64, 65, 4095, 4096, 4097, 65535, 65536, 65537};
  for (std::size_t i = 0; i <= 33; ++i) lengths.push_back(i);
  for (const CipherKey& key : keys)
    for (const std::size_t length : lengths)
      for (const Counter& counter : carrying_counters) {
        CAPTURE(key.bytes.size(), length, counter.high, counter.low);
        const Pending job = start(*lane, area, 0, key, counter, length);
        CHECK(finish(*lane, job) == "");
        if (length > 5000) continue;  // the reference is slow
        const Bytes in = test_bytes(length);
        Bytes out(length);
        reference->start({.key = &key, .in = in, .out = out, .counter = store_counter(counter)});
        CHECK(difference(job.out.first(length), out) == "");
      }
}

TEST_CASE("a CUDA lane runs two jobs at a time and finishes them in order", "[gpu]") {
  const Area area(3, 1 << 20);
  const CipherKey key = make_key(test_bytes(32));
  const auto lane = open_lane(area.memory());
  REQUIRE(lane->depth() == 2);
  Pending older = start(*lane, area, 0, key, {1, all}, 1 << 20);
  for (std::size_t i = 1; i < 50; ++i) {
    CAPTURE(i);
    const Pending newer = start(*lane, area, i % 3, key, {i, all - i}, (1 << 20) - i, i);
    CHECK(finish(*lane, older) == "");
    older = newer;
  }
  CHECK(finish(*lane, older) == "");
}

TEST_CASE("a CUDA lane accepts another key while a job with the previous one is in flight", "[gpu]") {
  const Area area(3, 1 << 18);
  const CipherKey keys[] = {make_key(test_bytes(32, 1)), make_key(test_bytes(16, 2)),
                            make_key(test_bytes(32, 3))};
  const auto lane = open_lane(area.memory());
  Pending older = start(*lane, area, 0, keys[0], {}, 1 << 18);
  for (std::size_t i = 1; i < 50; ++i) {
    CAPTURE(i);
    const Pending newer = start(*lane, area, i % 3, keys[i % 7 % 3], {0, i}, 1 << 18);
    CHECK(finish(*lane, older) == "");
    older = newer;
  }
  CHECK(finish(*lane, older) == "");
}

TEST_CASE("a CUDA lane notices another key at the address of an earlier one", "[gpu]") {
  const Area area(1, 1 << 18);
  CipherKey key = make_key(test_bytes(32));
  const auto lane = open_lane(area.memory());
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    key = make_key(test_bytes(32, seed));
    const Pending job = start(*lane, area, 0, key, {}, 1 << 18, 0);
    CHECK(finish(*lane, job) == "");
  }
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
      std::string wrong;
      Pending older = start(*lanes[i], area, 2 * i, key, {i, all}, 1 << 20);
      for (std::size_t job = 1; job < 30; ++job) {
        const Pending newer =
            start(*lanes[i], area, 2 * i + job % 2, key, {i, all - job}, (1 << 20) - 16 * i, job);
        wrong += finish(*lanes[i], older);
        older = newer;
      }
      return wrong + finish(*lanes[i], older);
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

TEST_CASE("CUDA lanes can be opened and closed repeatedly", "[gpu]") {
  const Area area(1, 1 << 20);
  const CipherKey key = make_key(test_bytes(32));
  for (int repeat = 0; repeat < 10; ++repeat) {
    CAPTURE(repeat);
    const auto lanes = open_streams(3, area.memory());
    CHECK(lanes.size() == 3);
    for (const auto& lane : lanes) CHECK(finish(*lane, start(*lane, area, 0, key, {}, 100000)) == "");
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
  Pending older = start(*lane, unpinned, 0, key, {}, 1 << 20);
  for (std::size_t i = 1; i < 12; ++i) {
    const Pending newer = start(*lane, unpinned, i % 3, key, {all, all}, (1 << 20) - 7 * i);
    CHECK(finish(*lane, older) == "");
    older = newer;
  }
  CHECK(finish(*lane, older) == "");
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

TEST_CASE("a CUDA lane that is not timed reports no phases", "[gpu]") {
  const Area area(1, 1 << 20);
  const CipherKey key = make_key(test_bytes(32));
  const auto lane = open_lane(area.memory());
  CHECK(lane->phases().empty());
  CHECK(finish(*lane, start(*lane, area, 0, key, {}, 1 << 20)) == "");
  CHECK(lane->phases().empty());
}

TEST_CASE("a lane error names a CUDA device that does not exist", "[gpu]") {
  const Area area(1, 4096);
  const auto error = error_of<LaneError>([&] { open_streams(1, area.memory(), 999); });
  REQUIRE(error.has_value());
  CHECK(contains(error->what(), "999"));
  CHECK_FALSE(error->hint().empty());
  CHECK(error_of<LaneError>([&] {
          open_streams(1, area.memory(), static_cast<unsigned>(count_cuda_devices()));
        }).has_value());
}

TEST_CASE("CUDA devices are listed, and lanes are named after their devices", "[gpu]") {
  REQUIRE(count_cuda_devices() > 0);
  CHECK(describe_cuda_devices().size() == count_cuda_devices());
  CHECK(describe_cuda_devices()[0].starts_with("cuda:0\t"));
  const Area area(1, 4096);
  CHECK(open_lane(area.memory())->name() == "cuda:0");
  std::vector<LaneSpec> every_device;
  for (unsigned device = 0; device < count_cuda_devices(); ++device)
    every_device.push_back({Backend::cuda, device, 1u});
  CHECK(open_lanes(every_device, area.memory()).size() == count_cuda_devices());
}

namespace {

struct PipelineCase {
  std::size_t chunk_bytes;  // of plaintext
  std::string lanes;
  bool parallel;
};

// The output, or the error.
Bytes run_pipeline(const Session& session, const Bytes& in, const PipelineCase& with, std::string& failure) {
  const Jitter none;
  Cancel cancel;
  const Workload workload{.chunk_bytes = with.chunk_bytes};
  const LanePlan plan = plan_lanes(parse_lanes(with.lanes), workload, this_machine(workload));
  const std::size_t units = plan.chunk_bytes / std::min(session.unit_in(), session.unit_out());
  Ring ring(plan.chunks, units * session.unit_in(), units * session.unit_out());
  MemorySource source(in, {.parallel = with.parallel ? in.size() : 0}, cancel, none);
  MemorySink sink({}, cancel, none);
  Pipeline pipeline({.ring = ring,
                     .source = source,
                     .sink = sink,
                     .session = session,
                     .cancel = cancel,
                     .fallback_lane = {},
                     .warn = [](const std::string&) {}});
  for (auto& lane : open_lanes(plan.first, {ring.memory(), ring.in_bytes(), ring.out_bytes()}))
    pipeline.add_lane(std::move(lane));
  failure = failure_of([&] { pipeline.run(); });
  return sink.bytes();
}

std::string check_raw(std::size_t size, const PipelineCase& with) {
  const Bytes key_bytes = test_bytes(32), in = test_bytes(size);
  SessionRequest request;
  request.keyring.keys.push_back(key_file(key_bytes));
  request.iv = "fffffffffffffffffffffffffffffff0";
  std::string failure;
  const Bytes out = run_pipeline(*raw_format.open(std::move(request)), in, with, failure);
  if (!failure.empty()) return failure;
  return difference(out, libcrypto_ctr(key_bytes, counter_block("fffffffffffffffffffffffffffffff0"), in));
}

std::unique_ptr<Session> segment_session(bool decrypt) {
  return make_segment_session({.decrypt = decrypt,
                               .key = make_key(test_bytes(32)),
                               .base_nonce = {{1, 2, 3}, 12},
                               .header = {},
                               .place = {}});
}

// Seals and opens. A changed byte must end the output before its segment.
std::string check_sealed(std::size_t size, const PipelineCase& with) {
  const Bytes in = test_bytes(size);
  const PipelineCase cpu{with.chunk_bytes, "cpu:2", with.parallel};
  std::string failure;
  Bytes sealed = run_pipeline(*segment_session(false), in, with, failure);
  if (!failure.empty()) return failure;
  if (sealed != run_pipeline(*segment_session(false), in, cpu, failure)) return "sealed as no CPU lane does";
  Bytes opened = run_pipeline(*segment_session(true), sealed, with, failure);
  if (!failure.empty() || opened != in) return "opened wrongly: " + failure;
  const std::size_t bad = sealed.size() / sealed_segment_bytes / 2;
  sealed.at(bad * sealed_segment_bytes + 3) ^= std::byte{1};
  opened = run_pipeline(*segment_session(true), sealed, with, failure);
  if (!contains(failure, "auth: the input is corrupt")) return "a changed byte went unnoticed";
  return difference(opened, test_bytes(bad * segment_bytes));
}

}  // namespace

TEST_CASE("a pipeline of CUDA lanes matches libcrypto", "[gpu]") {
  for (const std::string lanes : {"cuda:0:1", "cuda:0:2", "cuda:0:8", "cpu:2+cuda:0:2"})
    for (const bool parallel : {false, true}) {
      for (const std::size_t size : {0, 1, 4095, 4096, 4097, 1000003}) {
        CAPTURE(lanes, parallel, size);
        CHECK(check_raw(size, {4096, lanes, parallel}) == "");
      }
      for (const std::size_t size : {(64 << 20) - 1, 64 << 20, (64 << 20) + 5}) {
        CAPTURE(lanes, parallel, size);
        CHECK(check_raw(size, {4 << 20, lanes, parallel}) == "");
      }
    }
}

TEST_CASE("a pipeline of CUDA lanes seals like CPU lanes and opens up to the first changed segment",
          "[gpu]") {
  for (const std::string lanes : {"cuda:0:1", "cuda:0:8", "cpu:2+cuda:0:2"})
    for (const bool parallel : {false, true}) {
      for (const std::size_t size : {0, 1, 16383, 16384, 16385, 65536, 1000003}) {
        CAPTURE(lanes, parallel, size);
        CHECK(check_sealed(size, {32768, lanes, parallel}) == "");
      }
      for (const std::size_t size : {(64 << 20) - 1, 64 << 20, (64 << 20) + 5}) {
        CAPTURE(lanes, parallel, size);
        CHECK(check_sealed(size, {4 << 20, lanes, parallel}) == "");
      }
    }
}

}  // namespace gpuaes
