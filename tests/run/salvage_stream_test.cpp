// Salvage: lanes that continue past damage, and how they record it. salvage_parts_test.cpp and
// tests/cli/salvage/ check what is reported.
#include "run/salvage_stream.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "cipher/modes/segments.hpp"
#include "format/sessions.hpp"
#include "pipeline/rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/keys.hpp"
#include "support/scripted_lane.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

using Gaps = std::vector<Damage::Gap>;

// A gap in a stream after a header of 175 bytes.
Damage::Gap gap(std::uint64_t begin, std::uint64_t end) {
  return {begin, end, 175 + begin / segment_bytes * sealed_segment_bytes, end % segment_bytes != 0};
}

std::unique_ptr<Session> opened() {
  return make_segment_session({.decrypt = true,
                               .key = make_key(test_bytes(32)),
                               .base_nonce = {{}, 12},
                               .place = {.input_bytes = 175}});
}

// The test bytes, sealed, with the segments `bad` damaged.
Bytes sealed(std::size_t size, const std::vector<std::size_t>& bad = {}) {
  const auto session = make_segment_session({.key = make_key(test_bytes(32)), .base_nonce = {{}, 12}});
  const Bytes in = test_bytes(size);
  Bytes out(session->output_size(size, true));
  make_cpu_lane()->start(session->job({0, in, out}));
  for (const std::size_t i : bad) out[i * sealed_segment_bytes] ^= std::byte{1};
  return out;
}

Bytes with_zeros(std::size_t size, const Gaps& gaps) {
  Bytes plain = test_bytes(size);
  for (const Damage::Gap& gap : gaps)
    std::fill(plain.begin() + static_cast<std::ptrdiff_t>(gap.begin),
              plain.begin() + static_cast<std::ptrdiff_t>(gap.end), std::byte{0});
  return plain;
}

// A lane like a device: opens all segments of a job even if one is bad, and counts them.
class WholeJobLane : public Lane {
 public:
  explicit WholeJobLane(std::size_t& opened) : opened_(opened) {}
  std::string name() const override { return "device"; }
  std::size_t depth() const override { return 2; }
  bool copies() const override { return true; }
  void start(const Job& job) override {
    job_ = job;
    opened_ += count_segments(job);
    lane_->start(job);
    std::optional<std::size_t> bad = lane_->finish();
    if (bad)  // the output after it has been written, but must not be used
      std::ranges::fill(job.out.subspan(*bad * segment_bytes), std::byte{0xee});
    bad_ = bad;
  }
  std::optional<std::size_t> finish() override { return bad_; }

 private:
  std::size_t& opened_;
  Job job_;
  std::unique_ptr<Lane> lane_ = make_cpu_lane();
  std::optional<std::size_t> bad_;
};

}  // namespace

// Damage ------------------------------------------------------------------------------------------

TEST_CASE("adjacent gaps are merged, regardless of the order in which they are found") {
  Gaps parts{{0, 10, 5}, {10, 20, 105}, {20, 30, 205}, {40, 50, 405}, {60, 60, 605}};
  std::ranges::sort(parts, {}, &Damage::Gap::begin);
  do {
    Damage damage;
    for (const Damage::Gap& part : parts) damage.add(part);
    CHECK(damage.take_all() == Gaps{{0, 30, 5}, {40, 50, 405}, {60, 60, 605}});
    CHECK(damage.take_all().empty());
  } while (std::ranges::next_permutation(parts, {}, &Damage::Gap::begin).found);
}

TEST_CASE("damage found twice counts once") {
  Damage damage;
  for (const auto& [begin, end] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {10, 20}, {10, 20}, {12, 18}, {5, 11}, {20, 20}, {0, 2}, {19, 25}})
    damage.add({begin, end, 3 * begin});
  CHECK(damage.take_all() == Gaps{{0, 2, 0}, {5, 25, 15}});
}

TEST_CASE("a gap that may still grow is not taken") {
  Damage damage;
  damage.add({0, 10, 1});
  damage.add({20, 30, 2});
  CHECK(damage.take_before(10).empty());
  CHECK(damage.take_before(30) == Gaps{{0, 10, 1}});
  damage.add({30, 40, 3});
  CHECK(damage.take_before(40).empty());
  CHECK(damage.take_before(41) == Gaps{{20, 40, 2}});
}

// The lane ----------------------------------------------------------------------------------------

TEST_CASE("a salvage lane opens all good segments and writes zeros for bad ones") {
  const auto session = opened();
  const std::size_t size = 9 * segment_bytes + 100;
  const std::vector<std::vector<std::size_t>> cases{
      {}, {0}, {9}, {4}, {3, 4, 5}, {0, 9}, {0, 2, 4, 6, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
  for (const auto& bad : cases) {
    CAPTURE(bad.size());
    const Bytes in = sealed(size, bad);
    Damage expected;
    for (const std::size_t i : bad)
      expected.add(gap(i * segment_bytes, std::min((i + 1) * segment_bytes, size)));
    const Gaps gaps = expected.take_all();
    std::size_t count = 0;
    for (const bool device : {false, true}) {
      Damage damage;
      const auto lane =
          make_salvage_lane(device ? std::make_unique<WholeJobLane>(count) : make_cpu_lane(), damage);
      CHECK(lane->depth() == 1);
      CHECK_FALSE(lane->copies());
      Bytes out(size);
      lane->start(session->job({0, in, out}));
      CHECK_FALSE(lane->finish().has_value());
      CHECK(difference(out, with_zeros(size, gaps)) == "");
      CHECK(damage.take_all() == gaps);
    }
  }
}

TEST_CASE("damage is recorded at its offset in the stream") {
  const auto session = opened();
  const Bytes in = sealed(100);  // sealed as segment 0, not 2^33
  Bytes out(100);
  Damage damage;
  const std::uint64_t first = std::uint64_t{1} << 33;
  make_salvage_lane(make_cpu_lane(), damage)->start(session->job({first * sealed_segment_bytes, in, out}));
  CHECK(damage.take_all() == Gaps{gap(first * segment_bytes, first * segment_bytes + 100)});
}

TEST_CASE("a device opens at most four times as many segments as a job has, however many are bad") {
  const auto session = opened();
  constexpr std::size_t count = 64;
  for (const std::size_t each : {1u, 2u, 3u, 7u, 63u}) {
    std::vector<std::size_t> bad;
    for (std::size_t i = 0; i < count; i += each) bad.push_back(i);
    CAPTURE(each);
    const Bytes in = sealed(count * segment_bytes, bad);
    Bytes out(count * segment_bytes);
    std::size_t opened_segments = 0;
    Damage damage;
    make_salvage_lane(std::make_unique<WholeJobLane>(opened_segments), damage)
        ->start(session->job({0, in, out}));
    CHECK(opened_segments <= 4 * count);
  }
}

TEST_CASE("a failed lane records no damage in its job; the lane that repeats the job does") {
  const auto session = opened();
  const Bytes in = sealed(3 * segment_bytes, {0, 2});
  Bytes out(3 * segment_bytes);
  Jitter jitter;
  Damage damage;
  const auto failing = make_salvage_lane(
      std::make_unique<ScriptedLane>(make_cpu_lane(), LaneScript{.on_start = fail_at_job(1)}, jitter),
      damage);
  CHECK(contains(failure_of([&] { failing->start(session->job({0, in, out})); }), "lane: "));
  CHECK(damage.take_all().empty());
}

}  // namespace gpuaes
