// The ring under thousands of schedules. One thread plays all lanes and decides, by a seeded generator, which
// lane calls the ring next. What happens between calls (sleeping, notifying, preparing a chunk) is left to
// the stress tests in ring_test.cpp and to ThreadSanitizer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/ring.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/memory_io.hpp"

namespace gpuaes::schedules {
namespace {

using Kind = Ring::Task::Kind;

constexpr std::size_t chunk_bytes = 8;

class Schedule {
 public:
  explicit Schedule(std::uint64_t seed)
      : random_(seed),
        count_(1 + below(12)),
        parallel_(below(2) * below(count_)),
        source_(test_bytes(count_ * chunk_bytes), {.parallel = parallel_ * chunk_bytes}, cancel_, no_jitter_),
        ring_(1 + below(5), chunk_bytes, chunk_bytes),
        mishaps_(below(2) == 1) {
    ring_.set_parallel(source_, parallel_ * chunk_bytes);
    for (std::uint64_t lane = 1 + below(5); lane > 0; --lane) lanes_.emplace_back(1 + below(3));
  }

  // From now on, the lane that is woken after `wakeups` others stays asleep.
  void lose_wakeup(std::uint64_t wakeups) { lost_wakeup_ = wakeups; }
  void cancel_after(std::uint64_t steps) { cancel_after_ = steps; }
  void hand_over_after(std::uint64_t steps) { hand_over_after_ = steps; }  // to other lanes

  // Returns what went wrong, or nothing.
  std::string run() {
    for (std::uint64_t step = 0;; ++step) {
      if (step == cancel_after_) ring_.cancel();
      if (step == hand_over_after_) hand_over();
      std::vector<Player*> able;
      for (Player& lane : lanes_)
        if (can_run(lane)) able.push_back(&lane);
      if (able.empty()) break;
      Player& lane = *able[below(able.size())];
      trace_ = trace_ * 31 + static_cast<std::uint64_t>(lane.next) * 7 + lane.held.size() + able.size();
      advance(lane);
      if (!error_.empty()) return error_;
      if (step == 5 && mishaps_) lanes_.emplace_back(1);  // a lane joins
    }
    for (const Player& lane : lanes_)
      if (lane.next != Next::ended) return "a lane sleeps forever";
    if (!cancel_after_ && written_ != count_) return "chunks are missing";
    return "";
  }

  std::uint64_t trace() const { return trace_; }  // differs between schedules, with high probability

 private:
  enum class Next { ask, wake, fill, ended };

  struct Player {
    explicit Player(std::size_t max_held) : depth(max_held) {}
    std::size_t depth;
    Waiter waiter;
    Next next = Next::ask;
    bool replaced = false;  // must end after its jobs
    bool start = true;      // takes more jobs; does not change while it sleeps
    Ring::Task task, ended;
    std::deque<Chunk*> held;
  };

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool mishap(std::uint64_t one_in) { return mishaps_ && below(one_in) == 0; }

  bool can_run(Player& lane) {
    if (lane.next != Next::wake) return lane.next != Next::ended;
    if (lane.waiter.asleep() || &lane == lost_) return false;
    if (lost_wakeup_ && lost_ == nullptr && (*lost_wakeup_)-- == 0) lost_ = &lane;
    return &lane != lost_;
  }

  void advance(Player& lane) {
    if (lane.next == Next::fill) return fill(lane);
    if (lane.held.size() > 0 && mishap(20)) return fail(lane);
    if (lane.next == Next::ask) lane.start = lane.held.size() < lane.depth && !lane.replaced;
    const std::optional<Ring::Task> task =
        ring_.try_take(lane.waiter, {.start = lane.start, .wait = lane.start && lane.held.empty()},
                       std::exchange(lane.ended, {}));
    lane.next = task ? Next::ask : Next::wake;
    if (task) begin(lane, *task);
  }

  void begin(Player& lane, Ring::Task task) {
    switch (task.kind) {
      case Kind::write:
        if (task.chunk->number != written_++) error_ = "chunks are out of order";
        lane.ended = task;
        return;
      case Kind::fill:
        if (std::exchange(reading_, true)) error_ = "two lanes have the reader's turn";
        lane.task = task;
        lane.next = Next::fill;
        return;
      case Kind::work:
        lane.held.push_back(task.chunk);
        return;
      case Kind::none:
        if (!lane.held.empty())
          finish(lane);
        else if (lane.replaced && is_last())
          lane.replaced = false;
        else
          lane.next = Next::ended;
    }
  }

  // The input may not be ready for a lane that has other work.
  void fill(Player& lane) {
    reading_ = false;
    lane.next = Next::ask;
    if (!lane.held.empty() && mishap(3)) return ring_.unfilled(*lane.task.chunk);
    ring_.filled(*lane.task.chunk, lane.task.chunk->number + 1 == count_);
    lane.held.push_back(lane.task.chunk);
  }

  void finish(Player& lane) {
    Chunk& chunk = *lane.held.front();
    lane.held.pop_front();
    if (mishap(8)) return ring_.give_back(chunk);
    lane.ended = {Kind::work, &chunk};
  }

  void hand_over() {
    for (Player& lane : lanes_) lane.replaced = true;
    for (std::uint64_t lane = 1 + below(3); lane > 0; --lane) lanes_.emplace_back(2);
  }

  bool is_last() const {
    return std::ranges::count_if(lanes_, [](const Player& lane) { return lane.next != Next::ended; }) == 1;
  }

  // The lane leaves, unless it is the last.
  void fail(Player& lane) {
    if (is_last() || lane.ended.chunk != nullptr) return;
    for (Chunk* chunk : std::exchange(lane.held, {})) ring_.give_back(*chunk);
    lane.next = Next::ended;
  }

  std::mt19937_64 random_;
  std::uint64_t count_;     // of chunks
  std::uint64_t parallel_;  // how many of them lanes read by themselves
  Cancel cancel_;
  Jitter no_jitter_;
  MemorySource source_;
  Ring ring_;
  bool mishaps_;
  std::deque<Player> lanes_;
  std::optional<std::uint64_t> lost_wakeup_, cancel_after_, hand_over_after_;
  const Player* lost_ = nullptr;
  std::uint64_t written_ = 0;
  bool reading_ = false;
  std::uint64_t trace_ = 0;
  std::string error_;
};

// Runs the schedules of that many seeds, and returns how many of them differ.
std::size_t run_schedules(std::uint64_t seeds, const std::function<void(Schedule&, std::uint64_t)>& prepare) {
  std::set<std::uint64_t> schedules;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Schedule schedule(seed);
    prepare(schedule, seed);
    const std::string wrong = schedule.run();
    CAPTURE(seed);
    REQUIRE(wrong == "");
    schedules.insert(schedule.trace());
  }
  return schedules.size();
}

}  // namespace

TEST_CASE("in every schedule, all chunks are written in order and all lanes end") {
  CHECK(run_schedules(10'000, [](Schedule&, std::uint64_t) {}) > 8'000);
}

TEST_CASE("in every schedule, cancel() ends all lanes") {
  run_schedules(2'000, [](Schedule& schedule, std::uint64_t seed) { schedule.cancel_after(seed % 40); });
}

TEST_CASE("in every schedule, lanes hand over to others") {
  const std::size_t different = run_schedules(
      10'000, [](Schedule& schedule, std::uint64_t seed) { schedule.hand_over_after(seed % 40); });
  CHECK(different > 8'000);
}

TEST_CASE("a lost wakeup is found") {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    Schedule schedule(seed);
    schedule.lose_wakeup(seed % 3);
    found += schedule.run() == "a lane sleeps forever" ? 1 : 0;
  }
  CHECK(found > 100);  // most schedules have fewer wakeups
}

}  // namespace gpuaes::schedules
