// The ring: order, backpressure, and who wakes whom.
#include "pipeline/ring.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <future>
#include <random>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "support.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t chunk_bytes = 64;

// Fills the next chunk with `size` bytes, of which the first is `mark`.
void fill_one(Ring& ring, unsigned mark, std::size_t size = 1) {
  Chunk* const chunk = ring.fill();
  REQUIRE(chunk != nullptr);
  chunk->in_size = size;
  chunk->in_memory[0] = static_cast<std::byte>(mark);
  ring.filled(*chunk);
}

unsigned mark_of(const Chunk* chunk) {
  REQUIRE(chunk != nullptr);
  return std::to_integer<unsigned>(chunk->in_memory[0]);
}

}  // namespace

TEST_CASE("a ring is one mapping, and inputs and outputs are apart in it, each on pages of its own") {
  const std::size_t in_bytes = 100, out_bytes = 5000;
  Ring ring(3, in_bytes, out_bytes);
  CHECK(ring.chunks() == 3);
  CHECK(ring.in_bytes() == in_bytes);
  const std::byte* end = ring.memory().data();
  for (int i = 0; i < 3; ++i) {
    Chunk* const chunk = ring.fill();
    REQUIRE(chunk != nullptr);
    for (const auto span : {chunk->in_memory, chunk->out_memory}) {
      CHECK(span.data() >= end);
      CHECK(reinterpret_cast<std::uintptr_t>(span.data()) % 4096 == 0);
      end = span.data() + span.size();
    }
    CHECK(chunk->in_memory.size() == in_bytes);
    CHECK(chunk->out_memory.size() == out_bytes);
    ring.filled(*chunk);
  }
  CHECK(end <= ring.memory().data() + ring.memory().size());
}

TEST_CASE("a ring larger than the address space is an error, and says what helps") {
  const std::size_t half = std::numeric_limits<std::size_t>::max() / 2;
  for (const std::size_t bytes : {half - 4096, half / 2, half / 4, std::size_t{1} << 50}) {
    const auto error = error_of<IoError>([&] { Ring(8, bytes, bytes); });
    REQUIRE(error.has_value());
    CHECK(contains(error->hint(), "--chunk-size"));
  }
}

TEST_CASE("lanes take chunks in the order in which they were filled, and the writer gets them so") {
  Ring ring(4, chunk_bytes, chunk_bytes);
  for (unsigned i = 0; i < 4; ++i) fill_one(ring, i);
  std::vector<Chunk*> taken;
  for (unsigned i = 0; i < 4; ++i) {
    taken.push_back(ring.take());
    CHECK(mark_of(taken.back()) == i);
  }
  for (const std::size_t i : {2, 0, 3, 1}) ring.done(*taken[i]);
  for (unsigned i = 0; i < 4; ++i) {
    Chunk* const chunk = ring.front();
    CHECK(mark_of(chunk) == i);
    ring.release(*chunk);
  }
}

TEST_CASE("a ring of one slot goes round") {
  Ring ring(1, chunk_bytes, chunk_bytes);
  for (unsigned i = 0; i < 100; ++i) {
    fill_one(ring, i);
    Chunk* chunk = ring.take();
    CHECK(mark_of(chunk) == i);
    CHECK(ring.try_take() == nullptr);
    ring.done(*chunk);
    chunk = ring.front();
    CHECK(mark_of(chunk) == i);
    ring.release(*chunk);
  }
  ring.close();
  CHECK(ring.take() == nullptr);
  CHECK(ring.front() == nullptr);
}

TEST_CASE("a chunk comes to the reader with nothing in it") {
  Ring ring(1, chunk_bytes, chunk_bytes);
  Chunk* chunk = ring.fill();
  chunk->in_size = chunk->out_size = 7;
  chunk->lane_reads = true;
  CHECK(chunk->in().size() == 7);
  CHECK(chunk->out().size() == 7);
  ring.filled(*chunk);
  ring.done(*ring.take());
  ring.release(*ring.front());
  chunk = ring.fill();
  CHECK(chunk->in().empty());
  CHECK(chunk->out().empty());
  CHECK_FALSE(chunk->lane_reads);
  CHECK(chunk->error == nullptr);
}

TEST_CASE("the reader waits while the ring is full") {
  for (const std::size_t chunks : {1, 2, 5}) {
    Ring ring(chunks, chunk_bytes, chunk_bytes);
    for (unsigned i = 0; i < chunks; ++i) fill_one(ring, i);
    auto next = in_thread([&] { return ring.fill(); });
    CHECK(is_waiting(next));
    Chunk* const first = ring.take();
    ring.done(*first);
    CHECK(is_waiting(next));  // done is not yet written
    ring.release(*ring.front());
    CHECK(result_of(std::move(next)) == first);
  }
}

TEST_CASE("the writer waits for its own next chunk, though later ones are done") {
  Ring ring(3, chunk_bytes, chunk_bytes);
  for (unsigned i = 0; i < 3; ++i) fill_one(ring, i);
  Chunk* const first = ring.take();
  for (int i = 0; i < 2; ++i) ring.done(*ring.take());
  auto front = in_thread([&] { return ring.front(); });
  CHECK(is_waiting(front));
  ring.done(*first);
  CHECK(result_of(std::move(front)) == first);
}

TEST_CASE("a lane waits for a chunk, and trying to take one does not") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  CHECK(ring.try_take() == nullptr);
  auto taken = in_thread([&] { return ring.take(); });
  CHECK(is_waiting(taken));
  fill_one(ring, 9);
  CHECK(mark_of(result_of(std::move(taken))) == 9);
  fill_one(ring, 10);
  CHECK(mark_of(ring.try_take()) == 10);
}

TEST_CASE("a chunk that was given back is the next to be taken, with the same input") {
  Ring ring(4, chunk_bytes, chunk_bytes);
  for (unsigned i = 0; i < 4; ++i) fill_one(ring, i);
  ring.done(*ring.take());
  ring.release(*ring.front());
  Chunk* const second = ring.take();
  Chunk* const third = ring.take();
  ring.give_back(*third);
  ring.give_back(*second);
  for (unsigned i = 1; i < 4; ++i) CHECK(mark_of(ring.take()) == i);
  CHECK(ring.try_take() == nullptr);
}

TEST_CASE("a chunk that was given back wakes a lane") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  fill_one(ring, 5);
  ring.close();
  Chunk* const chunk = ring.take();
  auto other = in_thread([&] { return ring.take(); });
  CHECK(is_waiting(other));
  ring.give_back(*chunk);
  CHECK(result_of(std::move(other)) == chunk);
}

TEST_CASE("several chunks that were given back wake as many lanes") {
  Ring ring(3, chunk_bytes, chunk_bytes);
  for (unsigned i = 0; i < 3; ++i) fill_one(ring, i);
  ring.close();
  std::array<Chunk*, 3> taken{};
  for (Chunk*& chunk : taken) chunk = ring.take();
  std::vector<std::future<Chunk*>> others;
  for (int i = 0; i < 3; ++i) others.push_back(in_thread([&] { return ring.take(); }));
  for (auto& other : others) CHECK(is_waiting(other));
  for (Chunk* chunk : taken) ring.give_back(*chunk);
  for (auto& other : others) CHECK(result_of(std::move(other)) != nullptr);
}

TEST_CASE("lanes go home only when all chunks are done: a held one may come back") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  fill_one(ring, 1);
  fill_one(ring, 2);
  Chunk* const first = ring.take();
  Chunk* const second = ring.take();
  ring.close();
  std::vector<std::future<Chunk*>> others;
  for (int i = 0; i < 3; ++i) others.push_back(in_thread([&] { return ring.take(); }));
  ring.done(*second);
  for (auto& other : others) CHECK(is_waiting(other));
  ring.done(*first);
  for (auto& other : others) CHECK(result_of(std::move(other)) == nullptr);
}

TEST_CASE("the end of the input wakes lanes and writer that wait for a chunk") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  fill_one(ring, 1);
  Chunk* const chunk = ring.take();
  ring.done(*chunk);
  ring.release(*ring.front());
  auto lane = in_thread([&] { return ring.take(); });
  auto writer = in_thread([&] { return ring.front(); });
  CHECK(is_waiting(lane));
  CHECK(is_waiting(writer));
  ring.close();
  CHECK(result_of(std::move(lane)) == nullptr);
  CHECK(result_of(std::move(writer)) == nullptr);
}

TEST_CASE("an input without a byte ends at once") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  ring.close();
  CHECK(ring.take() == nullptr);
  CHECK(ring.try_take() == nullptr);
  CHECK(ring.front() == nullptr);
  CHECK_FALSE(ring.wait_for_input(1));
}

TEST_CASE("cancelling wakes everybody, and nobody waits any more") {
  Ring ring(1, chunk_bytes, chunk_bytes);
  fill_one(ring, 1);
  Chunk* const held = ring.take();
  auto reader = in_thread([&] { return ring.fill(); });
  auto lane = in_thread([&] { return ring.take(); });
  auto other_lane = in_thread([&] { return ring.take(); });
  auto writer = in_thread([&] { return ring.front(); });
  auto watcher = in_thread([&] { return ring.wait_for_input(2); });
  CHECK(is_waiting(reader));
  CHECK(is_waiting(lane));
  CHECK(is_waiting(writer));
  CHECK(is_waiting(watcher));
  ring.cancel();
  CHECK(result_of(std::move(reader)) == nullptr);
  CHECK(result_of(std::move(lane)) == nullptr);
  CHECK(result_of(std::move(other_lane)) == nullptr);
  CHECK(result_of(std::move(writer)) == nullptr);
  CHECK_FALSE(result_of(std::move(watcher)));
  ring.done(*held);
  CHECK(ring.fill() == nullptr);
  CHECK(ring.take() == nullptr);
  CHECK(ring.try_take() == nullptr);
  CHECK(ring.front() == nullptr);
  CHECK_FALSE(ring.wait_for_input(0));
}

TEST_CASE("waiting for input ends when so much was filled") {
  Ring ring(4, chunk_bytes, chunk_bytes);
  CHECK(ring.wait_for_input(0));
  fill_one(ring, 1, 10);
  CHECK(ring.wait_for_input(10));
  auto watcher = in_thread([&] { return ring.wait_for_input(30); });
  CHECK(is_waiting(watcher));
  fill_one(ring, 2, 19);
  CHECK(is_waiting(watcher));
  fill_one(ring, 3, 1);
  CHECK(result_of(std::move(watcher)));
}

TEST_CASE("waiting for input ends with the input") {
  Ring ring(4, chunk_bytes, chunk_bytes);
  fill_one(ring, 1, 10);
  auto watcher = in_thread([&] { return ring.wait_for_input(11); });
  CHECK(is_waiting(watcher));
  ring.close();
  CHECK_FALSE(result_of(std::move(watcher)));
  CHECK(ring.wait_for_input(10));
}

namespace {

// Sends `count` chunks round a ring of `slots` with `lanes` lanes, all of which pause at random, and each of
// which gives a chunk back now and then. True when they came to the writer in order, each done once.
bool goes_round(std::size_t slots, unsigned lanes, std::uint64_t count, const Jitter& jitter) {
  Ring ring(slots, sizeof count, sizeof count);
  std::jthread reader([&] {
    for (std::uint64_t i = 0; i < count; ++i) {
      Chunk* const chunk = ring.fill();
      jitter.pause();
      std::memcpy(chunk->in_memory.data(), &i, sizeof i);
      chunk->in_size = sizeof i;
      ring.filled(*chunk);
    }
    ring.close();
  });
  std::atomic<std::uint64_t> done = 0;
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < lanes; ++i) {
    workers.emplace_back([&] {
      std::vector<Chunk*> held;
      while (Chunk* chunk = ring.take()) {
        held.assign(1, chunk);
        if (Chunk* more = jitter.random() % 2 == 0 ? ring.try_take() : nullptr) held.push_back(more);
        for (Chunk* each : held) {
          jitter.pause();
          if (jitter.random() % 8 == 0) {
            ring.give_back(*each);
            continue;
          }
          std::memcpy(each->out_memory.data(), each->in().data(), each->in_size);
          each->out_size = each->in_size;
          ++done;
          ring.done(*each);
        }
      }
    });
  }
  std::uint64_t written = 0;
  bool in_order = true;
  while (Chunk* chunk = ring.front()) {
    std::uint64_t number = 0;
    std::memcpy(&number, chunk->out().data(), sizeof number);
    in_order = in_order && number == written++;
    jitter.pause();
    ring.release(*chunk);
  }
  workers.clear();
  return in_order && written == count && done == count;
}

}  // namespace

TEST_CASE("chunks stay in order with any number of slots and lanes under random delays") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  const Jitter jitter(seed, std::chrono::microseconds(100));
  for (std::size_t slots = 1; slots <= 8; ++slots)
    for (unsigned lanes = 1; lanes <= 8; ++lanes) {
      CAPTURE(slots, lanes);
      CHECK(result_of(in_thread([&] { return goes_round(slots, lanes, 60, jitter); })));
    }
}

TEST_CASE("a ring without any delays goes round many times") {
  const Jitter none;
  for (const std::size_t slots : {1, 2, 3, 16})
    for (const unsigned lanes : {1u, 2u, 4u}) {
      CAPTURE(slots, lanes);
      CHECK(goes_round(slots, lanes, 5000, none));
    }
}

TEST_CASE("cancelling at any moment leaves no thread behind") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  const Jitter jitter(seed, std::chrono::microseconds(50));
  for (int repeat = 0; repeat < 50; ++repeat) {
    Ring ring(1 + jitter.random() % 4, chunk_bytes, chunk_bytes);
    auto reader = in_thread([&] {
      while (Chunk* chunk = ring.fill()) {
        chunk->in_size = 1;
        ring.filled(*chunk);
      }
      return true;
    });
    std::vector<std::future<bool>> lanes;
    for (int i = 0; i < 3; ++i)
      lanes.push_back(in_thread([&] {
        while (Chunk* chunk = ring.take()) {
          jitter.pause();
          ring.done(*chunk);
        }
        return true;
      }));
    auto writer = in_thread([&] {
      while (Chunk* chunk = ring.front()) {
        jitter.pause();
        ring.release(*chunk);
      }
      return true;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(jitter.random() % 3000));
    ring.cancel();
    CHECK(result_of(std::move(reader)));
    for (auto& lane : lanes) CHECK(result_of(std::move(lane)));
    CHECK(result_of(std::move(writer)));
  }
}

}  // namespace gpuaes
