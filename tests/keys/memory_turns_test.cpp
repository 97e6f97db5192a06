// Threads that take turns to use memory for slow key derivations.
#include "keys/memory_turns.hpp"

#include <atomic>
#include <cstdint>
#include <future>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "support/catch.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

constexpr std::uint64_t mib = 1 << 20;

// Turns of threads that keep what they get.
class Rig {
 public:
  explicit Rig(std::uint64_t free = std::numeric_limits<std::uint64_t>::max())
      : turns_([free] { return free; }) {}

  std::future<MemoryTurns::Turn> take(std::uint64_t bytes, const StopCheck& check = {}) {
    return in_thread([this, bytes, check] { return turns_.take(bytes, check); });
  }

  // How many of that many turns begin while none ends.
  std::size_t count_begun(std::size_t count, std::uint64_t bytes) {
    std::vector<MemoryTurns::Turn> begun;
    std::atomic<bool> stop = false;
    while (begun.size() < count) {
      auto next = take(bytes, [&stop] {
        if (stop) throw std::runtime_error("stopped");
      });
      if (is_waiting(next)) {
        stop = true;
        CHECK_THROWS_WITH(next.get(), "stopped");
        break;
      }
      begun.push_back(next.get());
    }
    return begun.size();
  }

 private:
  MemoryTurns turns_;
};

}  // namespace

TEST_CASE("turns begin together while all but the largest take little memory") {
  CHECK(Rig().count_begun(20, 128 * mib) == 3);
  CHECK(Rig().count_begun(20, 256 * mib) == 2);
  CHECK(Rig().count_begun(20, 1024 * mib) == 1);
  CHECK(Rig().count_begun(20, mib) == 20);
}

TEST_CASE("turns begin together only if there is free memory for all") {
  CHECK(Rig(300 * mib).count_begun(20, 128 * mib) == 2);
  CHECK(Rig(200 * mib).count_begun(20, 128 * mib) == 1);
  CHECK(Rig(0).count_begun(20, 128 * mib) == 1);
}

TEST_CASE("a turn for much memory is the only one, in whatever order") {
  Rig rig;
  std::optional<MemoryTurns::Turn> first(result_of(rig.take(1024 * mib)));
  auto small = rig.take(128 * mib);
  CHECK(is_waiting(small));
  first.reset();
  first.emplace(result_of(std::move(small)));
  auto large = rig.take(1024 * mib);
  CHECK(is_waiting(large));
  first.reset();
  result_of(std::move(large));
}

TEST_CASE("the first that waits for its turn gets the next one") {
  Rig rig;
  std::optional<MemoryTurns::Turn> small(result_of(rig.take(mib)));
  auto large = rig.take(1024 * mib);
  CHECK(is_waiting(large));
  auto later = rig.take(mib);
  CHECK(is_waiting(later));
  small.reset();
  std::optional<MemoryTurns::Turn> begun(result_of(std::move(large)));
  CHECK(is_waiting(later));
  begun.reset();
  result_of(std::move(later));
}

TEST_CASE("one that stops waiting for its turn does not delay the others") {
  Rig rig;
  std::atomic<bool> stop = false;
  const MemoryTurns::Turn small = result_of(rig.take(mib));
  auto large = rig.take(1024 * mib, [&stop] {
    if (stop) throw std::runtime_error("stopped");
  });
  CHECK(is_waiting(large));
  auto later = rig.take(mib);
  CHECK(is_waiting(later));
  stop = true;
  CHECK_THROWS_WITH(large.get(), "stopped");
  result_of(std::move(later));
}

}  // namespace gpuaes
