// The ring: order, backpressure, the turns to fill and to write, and which thread wakes which.
#include "pipeline/ring.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <future>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/memory_io.hpp"
#include "support/spy.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

using Kind = Ring::Task::Kind;

constexpr std::size_t chunk_bytes = 64;
constexpr Ring::TakeOptions without_waiting{.start = true, .wait = false};
constexpr Ring::TakeOptions only_writing{.start = false, .wait = false};
constexpr Ring::TakeOptions wait_for_any{.start = true, .wait = true};

// The chunk of the next task, which must be of that kind.
Chunk& take(Ring& ring, Waiter& waiter, Kind kind, Ring::TakeOptions options = without_waiting) {
  const Ring::Task task = ring.take(waiter, options);
  REQUIRE(static_cast<int>(task.kind) == static_cast<int>(kind));
  REQUIRE(task.chunk != nullptr);
  return *task.chunk;
}

bool nothing_for(Ring& ring, Waiter& waiter, Ring::TakeOptions options = without_waiting) {
  const Ring::Task task = ring.take(waiter, options);
  return task.kind == Kind::none && task.chunk == nullptr;
}

std::future<Ring::Task> waits_for_task(Ring& ring, Waiter& waiter) {
  return in_thread([&] { return ring.take(waiter, wait_for_any); });
}

// Whether there is a task of that kind for this chunk.
bool gets(std::future<Ring::Task>& waiting, Kind kind, const Chunk* chunk) {
  const Ring::Task task = result_of(std::move(waiting));
  return task.kind == kind && task.chunk == chunk;
}

// Fills the next chunk with `size` bytes, the first of them `mark`.
Chunk& fill_one(Ring& ring, Waiter& waiter, unsigned mark, std::size_t size = 1, bool last = false) {
  Chunk& chunk = take(ring, waiter, Kind::fill);
  chunk.in_size = size;
  chunk.in_memory[0] = static_cast<std::byte>(mark);
  ring.filled(chunk, last);
  return chunk;
}

void write_one(Ring& ring, Waiter& waiter) {
  ring.written(take(ring, waiter, Kind::write));
}

unsigned mark_of(const Chunk& chunk) {
  return std::to_integer<unsigned>(chunk.in_memory[0]);
}

}  // namespace

// Memory ------------------------------------------------------------------------------------------

TEST_CASE("a ring is one mapping, of inputs and then of outputs, each on its own pages") {
  const std::size_t in_bytes = 100, out_bytes = 5000;
  Ring ring(3, in_bytes, out_bytes);
  Waiter waiter;
  CHECK(ring.chunks() == 3);
  CHECK(ring.in_bytes() == in_bytes);
  CHECK(ring.in_memory().data() == ring.memory().data());
  const std::byte* in_end = ring.memory().data();
  const std::byte* out_end = ring.in_memory().data() + ring.in_memory().size();
  for (int i = 0; i < 3; ++i) {
    Chunk& chunk = take(ring, waiter, Kind::fill);
    CHECK(chunk.in_memory.size() == in_bytes);
    CHECK(chunk.out_memory.size() == out_bytes);
    CHECK(chunk.in_memory.data() >= in_end);
    CHECK(chunk.out_memory.data() >= out_end);
    in_end = chunk.in_memory.data() + in_bytes;
    out_end = chunk.out_memory.data() + out_bytes;
    for (const auto span : {chunk.in_memory, chunk.out_memory})
      CHECK(reinterpret_cast<std::uintptr_t>(span.data()) % 4096 == 0);
    ring.filled(chunk, false);
  }
  CHECK(in_end <= ring.in_memory().data() + ring.in_memory().size());
  CHECK(out_end <= ring.memory().data() + ring.memory().size());
}

TEST_CASE("a ring larger than the address space is an error with a hint") {
  const std::size_t half = std::numeric_limits<std::size_t>::max() / 2;
  for (const std::size_t bytes : {half - 4096, half / 2, half / 4, std::size_t{1} << 50}) {
    const auto error = error_of<IoError>([&] { Ring(8, bytes, bytes); });
    REQUIRE(error.has_value());
    CHECK((contains(error->what(), " MiB of memory for the ring: ") ||
           error->what() == std::string("the ring would exceed the address space")));
    CHECK(error->hint().advice == Advice::use_smaller_chunks);
  }
}

TEST_CASE("a chunk is empty when its reader takes it") {
  Ring ring(1, chunk_bytes, chunk_bytes);
  Waiter waiter;
  Chunk* chunk = &take(ring, waiter, Kind::fill);
  chunk->in_size = chunk->out_size = 7;
  chunk->in_source = chunk->in_place = true;
  CHECK(chunk->in().size() == 7);
  CHECK(chunk->out().size() == 7);
  CHECK(chunk->out().data() == chunk->in().data());
  ring.filled(*chunk, false);
  ring.done(*chunk);
  write_one(ring, waiter);
  chunk = &take(ring, waiter, Kind::fill);
  CHECK(chunk->in().empty());
  CHECK(chunk->out().empty());
  CHECK_FALSE(chunk->in_source);
  CHECK_FALSE(chunk->in_place);
  CHECK(chunk->error == nullptr);
}

TEST_CASE("an output does not overlap its input, or overwrites it in place") {
  Ring ring(1, chunk_bytes, chunk_bytes);
  Waiter waiter;
  Chunk& chunk = take(ring, waiter, Kind::fill);
  chunk.in_size = chunk.out_size = chunk_bytes;
  CHECK(chunk.in().data() == chunk.in_memory.data());
  CHECK(chunk.out().data() == chunk.out_memory.data());
  CHECK(chunk.out().data() >= chunk.in().data() + chunk_bytes);
  chunk.in_place = true;
  CHECK(chunk.out().data() == chunk.in_memory.data());
}

namespace {

void mark_all(std::span<std::byte> bytes) {
  std::ranges::fill(bytes, std::byte{0x5a});
}

}  // namespace

TEST_CASE("a ring wipes its chunks when it is destroyed") {
  for (const bool in_place : {false, true})
    for (const std::string_view end :
         {"written", "done", "held", "given back", "half filled", "half written"}) {
      CAPTURE(in_place, end);
      std::optional<Ring> ring(std::in_place, 2, chunk_bytes, 2 * chunk_bytes);
      const Spy spy(ring->memory());
      Waiter waiter;
      // A longer chunk was in the same memory before.
      for (const std::size_t size : {chunk_bytes, chunk_bytes / 2}) {
        Chunk& chunk = take(*ring, waiter, Kind::fill);
        const bool cut_short = end == "half filled" && size < chunk_bytes;
        mark_all(chunk.in_memory.first(size));
        chunk.in_touched = std::max(chunk.in_touched, size);
        if (cut_short) break;
        chunk.in_size = size;
        chunk.in_place = in_place;
        ring->filled(chunk, false);
        chunk.out_size = in_place ? size : 2 * size;
        mark_all(chunk.out());
        if (!in_place) chunk.out_touched = std::max(chunk.out_touched, chunk.out_size);
        const bool last = size < chunk_bytes;
        if (last && end == "held") break;
        if (last && end == "given back") {
          ring->give_back(chunk);
          break;
        }
        ring->done(chunk);
        if (last && end == "done") break;
        Chunk& written = take(*ring, waiter, Kind::write);
        if (last && end == "half written") break;
        ring->written(written);
      }
      CHECK(spy.bytes_left() > 0);
      ring.reset();
      CHECK(spy.bytes_left() == 0);
    }
}

TEST_CASE("a chunk that lanes read begins where the source requests, and is wiped") {
  Cancel cancel;
  const Jitter jitter;
  const std::size_t size = 6000;  // not a whole number of pages
  MemorySource source(test_bytes(4 * size), {.parallel = 3 * size}, cancel, jitter);
  std::optional<Ring> ring(std::in_place, 1, size, 2 * size);
  const Spy spy(ring->memory());
  Waiter waiter;
  ring->set_parallel(source, 3 * size);
  for (const std::uint64_t offset : {0, 6000, 12000}) {
    Chunk& chunk = take(*ring, waiter, Kind::work);
    CHECK(reinterpret_cast<std::uintptr_t>(chunk.in().data()) % 4096 == offset % 4096);
    CHECK(chunk.in().size() == size);
    CHECK(chunk.in_place_memory.data() + chunk.in_place_memory.size() <= chunk.out_memory.data());
    chunk.in_place = true;
    chunk.out_size = chunk.in_touched = 2 * size;
    CHECK(chunk.out().data() == chunk.in().data());
    mark_all(chunk.out());
    ring->done(chunk);
    write_one(*ring, waiter);
  }
  CHECK(reinterpret_cast<std::uintptr_t>(take(*ring, waiter, Kind::fill).in_memory.data()) % 4096 == 0);
  CHECK(spy.bytes_left() > 0);
  ring.reset();
  CHECK(spy.bytes_left() == 0);
}

// Order -------------------------------------------------------------------------------------------

TEST_CASE("chunks are written in the order they were filled, even if they are done in another order") {
  Ring ring(4, chunk_bytes, chunk_bytes);
  Waiter waiter;
  std::vector<Chunk*> chunks;
  for (unsigned i = 0; i < 4; ++i) chunks.push_back(&fill_one(ring, waiter, i));
  CHECK(nothing_for(ring, waiter));
  for (const std::size_t i : {2, 3, 1}) {
    ring.done(*chunks[i]);
    CHECK(nothing_for(ring, waiter));  // the first one is not done
  }
  ring.done(*chunks[0]);
  for (unsigned i = 0; i < 4; ++i) {
    Chunk& chunk = take(ring, waiter, Kind::write);
    CHECK(mark_of(chunk) == i);
    ring.written(chunk);
  }
}

TEST_CASE("a ring of one chunk works") {
  Ring ring(1, chunk_bytes, chunk_bytes);
  Waiter waiter;
  for (unsigned i = 0; i < 100; ++i) {
    Chunk& chunk = fill_one(ring, waiter, i, 1, i == 99);
    CHECK(nothing_for(ring, waiter));
    ring.done(chunk);
    CHECK(&take(ring, waiter, Kind::write) == &chunk);
    CHECK(mark_of(chunk) == i);
    CHECK(nothing_for(ring, waiter));
    ring.written(chunk);
  }
  CHECK(nothing_for(ring, waiter, wait_for_any));
  ring.wait_for_end();
}

TEST_CASE("writing a chunk has priority over starting one") {
  Ring ring(3, chunk_bytes, chunk_bytes);
  Waiter waiter;
  Chunk& first = fill_one(ring, waiter, 0);
  Chunk& second = fill_one(ring, waiter, 1);
  ring.give_back(second);
  ring.done(first);
  CHECK(&take(ring, waiter, Kind::write) == &first);
  CHECK(&take(ring, waiter, Kind::work) == &second);
  take(ring, waiter, Kind::fill);
}

TEST_CASE("a lane that does not wait may get no task") {
  Ring ring(1, chunk_bytes, chunk_bytes);
  Waiter waiter;
  CHECK(nothing_for(ring, waiter, only_writing));
  Chunk& chunk = fill_one(ring, waiter, 1);
  CHECK(nothing_for(ring, waiter));
  CHECK(nothing_for(ring, waiter, only_writing));
  ring.done(chunk);
  CHECK(&take(ring, waiter, Kind::write, only_writing) == &chunk);
}

TEST_CASE("a lane that only writes gets no chunk to start") {
  Ring ring(3, chunk_bytes, chunk_bytes);
  Waiter waiter;
  Chunk& chunk = fill_one(ring, waiter, 1);
  ring.give_back(chunk);
  CHECK(nothing_for(ring, waiter, only_writing));
  CHECK(&take(ring, waiter, Kind::work) == &chunk);
}

// Turns -------------------------------------------------------------------------------------------

TEST_CASE("only one lane fills at a time") {
  Ring ring(4, chunk_bytes, chunk_bytes);
  Waiter reader, other;
  Chunk& first = take(ring, reader, Kind::fill);
  CHECK(nothing_for(ring, other));
  auto next = waits_for_task(ring, other);
  CHECK(is_waiting(next));
  ring.filled(first, false);
  const Ring::Task task = result_of(std::move(next));
  CHECK(task.kind == Kind::fill);
  CHECK(task.chunk != &first);
  CHECK(nothing_for(ring, reader));
}

TEST_CASE("only one lane writes at a time") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter writer, other;
  std::array<Chunk*, 2> chunks{};
  for (unsigned i = 0; i < 2; ++i) chunks[i] = &fill_one(ring, writer, i);
  for (Chunk* chunk : chunks) ring.done(*chunk);
  Chunk& first = take(ring, writer, Kind::write);
  CHECK(nothing_for(ring, other));
  ring.written(first);
  CHECK(&take(ring, other, Kind::write) == chunks[1]);
  CHECK(take(ring, writer, Kind::fill).in().empty());  // the entry that was written
  CHECK(nothing_for(ring, writer, only_writing));
}

TEST_CASE("one lane fills while another writes") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter writer, reader;
  ring.done(fill_one(ring, writer, 0));
  Chunk& written = take(ring, writer, Kind::write);
  Chunk& filled = take(ring, reader, Kind::fill);
  CHECK(&written != &filled);
  ring.filled(filled, true);
  ring.written(written);
  ring.done(filled);
  write_one(ring, reader);
  ring.wait_for_end();
}

TEST_CASE("a chunk without input stays empty and is the next to be filled") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter waiter, other;
  Chunk& chunk = take(ring, waiter, Kind::fill);
  auto next = waits_for_task(ring, other);
  CHECK(is_waiting(next));
  ring.unfilled(chunk);
  CHECK(gets(next, Kind::fill, &chunk));
  CHECK(nothing_for(ring, waiter));
  ring.unfilled(chunk);
  CHECK(&take(ring, waiter, Kind::fill) == &chunk);
}

// Waiting -----------------------------------------------------------------------------------------

TEST_CASE("a lane waits while the ring is full") {
  for (const std::size_t chunks : {1, 2, 5}) {
    CAPTURE(chunks);
    Ring ring(chunks, chunk_bytes, chunk_bytes);
    Waiter waiter, other;
    std::vector<Chunk*> all;
    for (unsigned i = 0; i < chunks; ++i) all.push_back(&fill_one(ring, waiter, i));
    auto next = waits_for_task(ring, other);
    CHECK(is_waiting(next));
    ring.done(*all[0]);
    Chunk& first = take(ring, waiter, Kind::write);
    CHECK(is_waiting(next));  // the first chunk is done but not written
    ring.written(first);
    CHECK(nothing_for(ring, waiter, only_writing));  // leaves filling to the waiting lane
    CHECK(gets(next, Kind::fill, all[0]));
  }
}

TEST_CASE("a chunk is written by the lane that processed it if that lane waits for it") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter ours, theirs;
  Chunk& first = fill_one(ring, ours, 0);
  Chunk& second = fill_one(ring, theirs, 1);
  ring.done(second);
  auto task = waits_for_task(ring, theirs);
  CHECK(is_waiting(task));  // the first one is not done
  ring.done(first);
  CHECK(&take(ring, ours, Kind::write) == &first);
  CHECK(is_waiting(task));
  ring.written(first);
  CHECK(&take(ring, ours, Kind::fill) == &first);  // the other lane writes the second chunk
  CHECK(gets(task, Kind::write, &second));
}

TEST_CASE("one lane writes all finished chunks that lanes read themselves, while others fill") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter ours, theirs;
  Chunk& first = fill_one(ring, ours, 0);
  Chunk& second = fill_one(ring, theirs, 1);
  second.in_source = true;
  ring.done(second);
  auto task = waits_for_task(ring, theirs);
  CHECK(is_waiting(task));
  ring.done(first);
  CHECK(&take(ring, ours, Kind::write) == &first);
  ring.written(first);
  CHECK(&take(ring, ours, Kind::write) == &second);
  CHECK(gets(task, Kind::fill, &first));
}

TEST_CASE("a chunk is written by another lane if the one that processed it is busy") {
  Ring ring(3, chunk_bytes, chunk_bytes);
  Waiter ours, theirs;
  Chunk& first = fill_one(ring, ours, 0);
  Chunk& second = fill_one(ring, theirs, 1);
  ring.done(second);
  take(ring, theirs, Kind::fill);  // keeps that lane busy
  ring.done(first);
  write_one(ring, ours);
  CHECK(&take(ring, ours, Kind::write) == &second);
}

TEST_CASE("a lane that writes leaves filling to a waiting lane") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter ours, theirs;
  std::array<Chunk*, 2> chunks{};
  for (unsigned i = 0; i < 2; ++i) chunks[i] = &fill_one(ring, ours, i);
  auto task = waits_for_task(ring, theirs);
  CHECK(is_waiting(task));
  for (Chunk* chunk : chunks) ring.done(*chunk);
  write_one(ring, ours);
  CHECK(&take(ring, ours, Kind::write) == chunks[1]);
  CHECK(gets(task, Kind::fill, chunks[0]));
}

TEST_CASE("a chunk that was given back is done again before new ones are filled, with the same input") {
  Ring ring(4, chunk_bytes, chunk_bytes);
  Waiter waiter;
  std::vector<Chunk*> chunks;
  for (unsigned i = 0; i < 3; ++i) chunks.push_back(&fill_one(ring, waiter, i));
  ring.give_back(*chunks[1]);
  ring.give_back(*chunks[2]);
  for (unsigned i = 1; i < 3; ++i) CHECK(mark_of(take(ring, waiter, Kind::work)) == i);
  take(ring, waiter, Kind::fill);
  CHECK(nothing_for(ring, waiter));
}

TEST_CASE("a chunk that was given back keeps its place in the stream") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter waiter, other;
  Chunk& first = fill_one(ring, waiter, 0);
  Chunk& second = fill_one(ring, waiter, 1, 1, true);
  ring.give_back(first);
  ring.done(second);
  CHECK(nothing_for(ring, waiter, only_writing));
  ring.done(take(ring, other, Kind::work));
  for (unsigned i = 0; i < 2; ++i) {
    Chunk& chunk = take(ring, waiter, Kind::write);
    CHECK(mark_of(chunk) == i);
    ring.written(chunk);
  }
  CHECK(nothing_for(ring, waiter, wait_for_any));
}

TEST_CASE("a chunk that was given back wakes a lane") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter waiter, other;
  Chunk& chunk = fill_one(ring, waiter, 5, 1, true);
  auto task = waits_for_task(ring, other);
  CHECK(is_waiting(task));
  ring.give_back(chunk);
  CHECK(gets(task, Kind::work, &chunk));
}

TEST_CASE("each of several chunks that were given back wakes a lane") {
  Ring ring(3, chunk_bytes, chunk_bytes);
  Waiter waiter;
  std::array<Waiter, 3> waiters;
  std::array<Chunk*, 3> chunks{};
  for (unsigned i = 0; i < 3; ++i) chunks[i] = &fill_one(ring, waiter, i, 1, i == 2);
  std::vector<std::future<Ring::Task>> others;
  for (Waiter& each : waiters) others.push_back(waits_for_task(ring, each));
  for (auto& other : others) CHECK(is_waiting(other));
  for (Chunk* chunk : chunks) ring.give_back(*chunk);
  for (auto& other : others) CHECK(result_of(std::move(other)).kind == Kind::work);
}

// The end -----------------------------------------------------------------------------------------

TEST_CASE("lanes end only when all chunks are done, because a held one may be given back") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter waiter;
  Chunk& first = fill_one(ring, waiter, 1);
  Chunk& second = fill_one(ring, waiter, 2, 1, true);
  std::array<Waiter, 3> waiters;
  std::vector<std::future<Ring::Task>> others;
  for (Waiter& each : waiters) others.push_back(waits_for_task(ring, each));
  ring.done(second);
  for (auto& other : others) CHECK(is_waiting(other));
  CHECK(nothing_for(ring, waiter));
  ring.done(first);
  std::size_t writers = 0;
  for (auto& other : others) writers += result_of(std::move(other)).kind == Kind::write ? 1 : 0;
  CHECK(writers == 1);  // the other lanes got no task
}

TEST_CASE("the last chunk ends all waits for more input") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter waiter, other;
  ring.done(fill_one(ring, waiter, 1));
  write_one(ring, waiter);
  Chunk& last = take(ring, waiter, Kind::fill);
  auto lane = waits_for_task(ring, other);
  CHECK(is_waiting(lane));
  ring.filled(last, true);
  CHECK(is_waiting(lane));  // the chunk may be given back
  ring.done(last);
  const std::array tasks{ring.take(waiter, wait_for_any), result_of(std::move(lane))};
  const std::size_t writer = tasks[0].kind == Kind::write ? 0 : 1;  // the lane that took it first
  CHECK(tasks[writer].kind == Kind::write);
  CHECK(tasks[1 - writer].kind == Kind::none);
  auto end = in_thread([&] {
    ring.wait_for_end();
    return true;
  });
  CHECK(is_waiting(end));
  ring.written(*tasks[writer].chunk);
  CHECK(result_of(std::move(end)));
  CHECK(nothing_for(ring, waiter, wait_for_any));
}

TEST_CASE("an empty input is one empty chunk") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter waiter;
  ring.done(fill_one(ring, waiter, 0, 0, true));
  write_one(ring, waiter);
  ring.wait_for_end();
  CHECK(nothing_for(ring, waiter, wait_for_any));
}

TEST_CASE("cancel() wakes all lanes, and no lane waits after it") {
  Ring ring(1, chunk_bytes, chunk_bytes);
  Waiter waiter, waiters[2];
  Chunk& held = fill_one(ring, waiter, 1);
  auto lane = waits_for_task(ring, waiters[0]);
  auto other_lane = waits_for_task(ring, waiters[1]);
  auto end = in_thread([&] {
    ring.wait_for_end();
    return true;
  });
  CHECK(is_waiting(lane));
  CHECK(is_waiting(other_lane));
  CHECK(is_waiting(end));
  ring.cancel();
  CHECK(result_of(std::move(lane)).kind == Kind::none);
  CHECK(result_of(std::move(other_lane)).kind == Kind::none);
  CHECK(result_of(std::move(end)));
  ring.done(held);
  CHECK(nothing_for(ring, waiter));
  CHECK(nothing_for(ring, waiter, only_writing));
  CHECK(nothing_for(ring, waiter, wait_for_any));
  ring.wait_for_end();
}

TEST_CASE("a turn that ends after cancel() leads to no task") {
  Ring ring(3, chunk_bytes, chunk_bytes);
  Waiter waiter, other;
  Chunk& first = fill_one(ring, waiter, 1);
  Chunk& given_back = fill_one(ring, waiter, 2);
  ring.done(first);
  Chunk& written = take(ring, waiter, Kind::write);
  Chunk& filled = take(ring, other, Kind::fill);
  ring.cancel();
  ring.written(written);
  ring.filled(filled, true);
  ring.give_back(given_back);
  for (Waiter* each : {&waiter, &other}) CHECK(nothing_for(ring, *each, wait_for_any));
}

// Under load --------------------------------------------------------------------------------------

namespace {

// A stream of numbered chunks that lanes pass through a ring.
struct Traffic {
  Ring& ring;
  std::uint64_t count;  // of chunks
  const Jitter& jitter;
  bool mishaps;  // chunks are sometimes given back, and the input is sometimes not ready

  OneAtATime reading{"the reader's turn"}, writing{"the writer's turn"};
  std::uint64_t filled = 0;   // in the reader's turn
  std::uint64_t written = 0;  // in the writer's turn
  bool in_order = true;
  std::atomic<std::uint64_t> done = 0;

  // Runs one lane, which holds up to `depth` chunks at a time. Returns whether it reached the end.
  bool drive(Waiter& waiter, std::size_t depth) {
    std::deque<Chunk*> held;
    for (;;) {
      const bool start = held.size() < depth;
      const auto [kind, chunk] = ring.take(waiter, {.start = start, .wait = held.empty()});
      if (kind == Kind::write)
        write(*chunk);
      else if (kind == Kind::work || (kind == Kind::fill && fill(*chunk, held.empty())))
        held.push_back(chunk);
      else if (!held.empty())
        finish(held);
      else
        return true;
    }
  }

  bool fill(Chunk& chunk, bool wait) {
    bool last = false;
    {
      const OneAtATime::Inside inside(reading);
      jitter.pause();
      if (!mishaps || wait || jitter.random() % 4 != 0) {
        std::memcpy(chunk.in_memory.data(), &filled, sizeof filled);
        chunk.in_size = sizeof filled;
        last = ++filled == count;
      }
    }
    if (chunk.in_size == 0) {
      ring.unfilled(chunk);
      return false;
    }
    ring.filled(chunk, last);
    return true;
  }

  void finish(std::deque<Chunk*>& held) {
    Chunk& chunk = *held.front();
    held.pop_front();
    jitter.pause();
    if (mishaps && jitter.random() % 8 == 0) return ring.give_back(chunk);
    std::memcpy(chunk.out_memory.data(), chunk.in().data(), chunk.in_size);
    chunk.out_size = chunk.in_size;
    ++done;
    ring.done(chunk);
  }

  void write(Chunk& chunk) {
    {
      const OneAtATime::Inside inside(writing);
      jitter.pause();
      std::uint64_t number = 0;
      std::memcpy(&number, chunk.out().data(), sizeof number);
      in_order = in_order && number == written++;
    }
    ring.written(chunk);
  }
};

// Passes `count` chunks through a ring of `ring_chunks`, with `lanes` lanes that hold one to three at a time.
// Returns whether they were written in order and each was done once.
bool run_traffic(std::size_t ring_chunks, std::size_t lanes, std::uint64_t count, const Jitter& jitter,
                 bool mishaps) {
  Ring ring(ring_chunks, sizeof count, sizeof count);
  Traffic traffic{.ring = ring, .count = count, .jitter = jitter, .mishaps = mishaps};
  std::deque<Waiter> waiters(lanes);
  std::vector<std::future<bool>> threads;
  for (std::size_t i = 0; i < lanes; ++i)
    threads.push_back(in_thread([&, i] { return traffic.drive(waiters[i], 1 + i % 3); }));
  ring.wait_for_end();
  for (auto& thread : threads) thread.get();
  return traffic.in_order && traffic.written == count && traffic.done == count;
}

}  // namespace

TEST_CASE("chunks stay in order with any ring size and number of lanes under random delays") {
  const std::uint64_t seed = std::random_device{}();
  const Jitter jitter(seed, std::chrono::microseconds(100));
  for (std::size_t ring_chunks = 1; ring_chunks <= 8; ++ring_chunks)
    for (std::size_t lanes = 1; lanes <= 8; ++lanes) {
      CAPTURE(seed, ring_chunks, lanes);
      CHECK(result_of(in_thread([&] { return run_traffic(ring_chunks, lanes, 60, jitter, true); })));
    }
}

TEST_CASE("a ring without delays handles many chunks") {
  const Jitter none;
  for (const std::size_t ring_chunks : {1, 2, 3, 16})
    for (const std::size_t lanes : {1, 2, 4})
      for (const bool mishaps : {false, true}) {
        CAPTURE(ring_chunks, lanes, mishaps);
        CHECK(result_of(in_thread([&] { return run_traffic(ring_chunks, lanes, 3000, none, mishaps); })));
      }
}

TEST_CASE("cancel() at any moment ends all threads") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  const Jitter jitter(seed, std::chrono::microseconds(50));
  for (int repeat = 0; repeat < 50; ++repeat) {
    Ring ring(1 + jitter.random() % 4, chunk_bytes, chunk_bytes);
    Traffic traffic{.ring = ring, .count = never, .jitter = jitter, .mishaps = true};
    std::array<Waiter, 4> waiters;
    std::vector<std::future<bool>> lanes;
    for (std::size_t i = 0; i < waiters.size(); ++i)
      lanes.push_back(in_thread([&, i] { return traffic.drive(waiters[i], 1 + i % 2); }));
    std::this_thread::sleep_for(std::chrono::microseconds(jitter.random() % 3000));
    ring.cancel();
    for (auto& lane : lanes) CHECK(result_of(std::move(lane)));
    CHECK(traffic.in_order);
  }
}

}  // namespace gpuaes
