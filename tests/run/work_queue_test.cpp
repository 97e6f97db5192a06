// Threads that do small pieces of work side by side.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "run/work_queue.hpp"
#include "support/catch.hpp"
#include "system/resources.hpp"

namespace gpuaes {

TEST_CASE("a work queue does everything once, in up to that many threads") {
  constexpr int count = 5000;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::multiset<int> done;
  WorkQueue<int> queue(4, [&](int item) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    done.insert(item);
  });
  for (const int end : {count / 2, count}) {
    for (int item = end - count / 2; item < end; ++item) queue.add(item);
    queue.wait();
    const std::lock_guard lock(mutex);
    CHECK(done.size() == static_cast<std::size_t>(end));
  }
  for (int item = 0; item < count; ++item) CHECK(done.count(item) == 1);
  CHECK(threads.size() <= 4);
  CHECK(threads.count(std::this_thread::get_id()) == 0);
}

TEST_CASE("a work queue stops at the first exception, which its owner gets") {
  std::atomic<int> done = 0;
  WorkQueue<int> queue(2, [&](int item) {
    if (item == 10) throw std::runtime_error("ten");
    ++done;
  });
  const auto fill = [&] {
    for (int item = 0; item < 1'000'000; ++item) queue.add(item);
  };
  CHECK_THROWS_WITH(fill(), "ten");
  CHECK_THROWS_WITH(queue.wait(), "ten");
  CHECK(done < 1000);
}

TEST_CASE("a work queue ends while work is under way, or if there never was any") {
  std::atomic<int> begun = 0;
  std::mutex gate;
  std::unique_lock closed(gate);
  {
    const auto queue = std::make_unique<WorkQueue<int>>(2, [&](int) {
      ++begun;
      const std::lock_guard lock(gate);
    });
    for (int item = 0; item < 4; ++item) queue->add(item);
    while (begun < 2) std::this_thread::yield();
    closed.unlock();
  }
  CHECK(begun >= 2);
  CHECK(begun <= 4);
  WorkQueue<int> unused(2, [](int) {});
  unused.wait();
}

TEST_CASE("there are as many threads as have descriptors and memory, and at least one") {
  const std::uint64_t memory = available_memory();
  CHECK(threads_for({.descriptors = 1, .bytes = 1}, 16) == 16);
  CHECK(threads_for({.descriptors = 1, .bytes = memory}, 16) == 1);
  CHECK(threads_for({.descriptors = 1'000'000'000, .bytes = 1}, 16) == 1);
  const std::size_t few = threads_for({.descriptors = 1, .bytes = memory / 8}, 16);
  CHECK(few >= 4);
  CHECK(few <= 12);
  CHECK(threads_for({.descriptors = 1, .bytes = memory / 8}, 16, memory) == 1);
}

}  // namespace gpuaes
