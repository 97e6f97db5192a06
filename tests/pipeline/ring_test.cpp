// The ring: its memory, which thread gets which task, who waited, and the order of chunks under load.
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
constexpr Ring::TakeOptions only_write{.start = false, .wait = false};
constexpr Ring::TakeOptions wait_for_any{.start = true, .wait = true};

Ring::Task done(Chunk& chunk) {
  return {Kind::work, &chunk};
}

Ring::Task written(Chunk& chunk) {
  return {Kind::write, &chunk};
}

// The chunk of the next task, which must be of that kind.
Chunk& take(Ring& ring, Waiter& waiter, Kind kind, Ring::Task ended = {}) {
  const Ring::Task task = ring.take(waiter, without_waiting, ended);
  REQUIRE(static_cast<int>(task.kind) == static_cast<int>(kind));
  REQUIRE(task.chunk != nullptr);
  return *task.chunk;
}

std::future<Ring::Task> waits_for_task(Ring& ring, Waiter& waiter, Ring::Task ended = {}) {
  return in_thread([&ring, &waiter, ended] { return ring.take(waiter, wait_for_any, ended); });
}

// Whether there is a task of that kind for this chunk.
bool gets(std::future<Ring::Task>& waiting, Kind kind, const Chunk* chunk) {
  const Ring::Task task = result_of(std::move(waiting));
  return task.kind == kind && task.chunk == chunk;
}

// The next chunk, which is filled.
Chunk& fill_one(Ring& ring, Waiter& waiter, bool last = false) {
  Chunk& chunk = take(ring, waiter, Kind::fill);
  ring.filled(chunk, last);
  return chunk;
}

// Ends a task after which there is no chunk to write.
void end(Ring& ring, Ring::Task task) {
  Waiter waiter;
  REQUIRE(ring.take(waiter, only_write, task).kind == Kind::none);
}

// Ends the chunk that is next to write, and writes it.
void write(Ring& ring, Chunk& chunk) {
  Waiter waiter;
  REQUIRE(&take(ring, waiter, Kind::write, done(chunk)) == &chunk);
  end(ring, written(chunk));
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
    CHECK((contains(error->what(), " MiB of memory for buffers: ") ||
           error->what() == std::string("the buffers would exceed the address space")));
    CHECK(error->hint().advice == Advice::use_smaller_chunks);
  }
}

TEST_CASE("a thread uses the memory of its last ring again, if that was small and of the same size") {
  const auto memory_of = [](std::size_t chunks, std::size_t bytes = chunk_bytes) {
    return Ring(chunks, bytes, bytes).memory().data();
  };
  const std::byte* const memory = memory_of(2);
  CHECK(memory_of(2) == memory);
  std::jthread([&] { CHECK(memory_of(2) != memory); }).join();
  {
    const Ring ring(2, chunk_bytes, chunk_bytes);
    CHECK(ring.memory().data() == memory);
    const Ring of_another_size(3, chunk_bytes, chunk_bytes), another(2, chunk_bytes, chunk_bytes);
    CHECK(of_another_size.memory().data() != memory);
    CHECK(another.memory().data() != memory);
  }
  CHECK(memory_of(2) == memory);
  memory_of(2, 1 << 20);  // not kept
  CHECK(memory_of(2) == memory);
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
  write(ring, *chunk);
  chunk = &take(ring, waiter, Kind::fill);
  CHECK(chunk->in().empty());
  CHECK(chunk->out().empty());
  CHECK_FALSE(chunk->in_source);
  CHECK_FALSE(chunk->in_place);
  CHECK(chunk->error == nullptr);
}

namespace {

void mark_all(std::span<std::byte> bytes) {
  std::ranges::fill(bytes, std::byte{0x5a});
}

}  // namespace

TEST_CASE("a ring wipes its chunks when it is destroyed") {
  for (const bool in_place : {false, true})
    for (const std::string_view cut : {"written", "held", "given back", "half filled", "half written"}) {
      CAPTURE(in_place, cut);
      std::optional<Ring> ring(std::in_place, 2, chunk_bytes, 2 * chunk_bytes);
      const Spy spy(ring->memory());
      Waiter waiter;
      // A longer chunk was in the same memory before.
      for (const std::size_t size : {chunk_bytes, chunk_bytes / 2}) {
        Chunk& chunk = take(*ring, waiter, Kind::fill);
        const bool cut_short = cut == "half filled" && size < chunk_bytes;
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
        if (last && cut == "held") break;
        if (last && cut == "given back") {
          ring->give_back(chunk);
          break;
        }
        if (last && cut == "half written") {
          take(*ring, waiter, Kind::write, done(chunk));
          break;
        }
        write(*ring, chunk);
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
    write(*ring, chunk);
  }
  CHECK(reinterpret_cast<std::uintptr_t>(take(*ring, waiter, Kind::fill).in_memory.data()) % 4096 == 0);
  CHECK(spy.bytes_left() > 0);
  ring.reset();
  CHECK(spy.bytes_left() == 0);
}

// Tasks ------------------------------------------------------------------------------------------

TEST_CASE("writing a chunk has priority over starting one") {
  Ring ring(3, chunk_bytes, chunk_bytes);
  Waiter waiter;
  Chunk& first = fill_one(ring, waiter);
  Chunk& second = fill_one(ring, waiter);
  ring.give_back(second);
  CHECK(&take(ring, waiter, Kind::write, done(first)) == &first);
  CHECK(&take(ring, waiter, Kind::work) == &second);
  take(ring, waiter, Kind::fill);
}

TEST_CASE("a chunk is written by the lane that processed it if that lane waits for it") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter ours, theirs;
  Chunk& first = fill_one(ring, ours);
  Chunk& second = fill_one(ring, theirs);
  auto task = waits_for_task(ring, theirs, done(second));
  CHECK(is_waiting(task));  // the first one is not done
  CHECK(&take(ring, ours, Kind::write, done(first)) == &first);
  CHECK(is_waiting(task));
  CHECK(&take(ring, ours, Kind::fill, written(first)) == &first);  // the other lane writes the second chunk
  CHECK(gets(task, Kind::write, &second));
}

TEST_CASE("one lane writes all finished chunks that lanes read themselves, while others fill") {
  Cancel cancel;
  const Jitter jitter;
  MemorySource source(test_bytes(2 * chunk_bytes), {.parallel = 2 * chunk_bytes}, cancel, jitter);
  Ring ring(2, chunk_bytes, chunk_bytes);
  ring.set_parallel(source, 2 * chunk_bytes);
  Waiter ours, theirs;
  Chunk& first = take(ring, ours, Kind::work);
  Chunk& second = take(ring, theirs, Kind::work);
  auto task = waits_for_task(ring, theirs, done(second));
  CHECK(is_waiting(task));
  CHECK(&take(ring, ours, Kind::write, done(first)) == &first);
  CHECK(&take(ring, ours, Kind::write, written(first)) == &second);
  CHECK(gets(task, Kind::fill, &first));
}

TEST_CASE("a lane that writes leaves filling to a waiting lane") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter ours, theirs;
  std::array<Chunk*, 2> chunks{};
  for (unsigned i = 0; i < 2; ++i) chunks[i] = &fill_one(ring, ours);
  auto task = waits_for_task(ring, theirs);
  CHECK(is_waiting(task));
  end(ring, done(*chunks[1]));
  take(ring, ours, Kind::write, done(*chunks[0]));
  CHECK(&take(ring, ours, Kind::write, written(*chunks[0])) == chunks[1]);
  CHECK(gets(task, Kind::fill, chunks[0]));
}

TEST_CASE("a lane that ends the reader's turn leaves it to a waiting lane") {
  for (const bool has_input : {true, false}) {
    CAPTURE(has_input);
    Ring ring(3, chunk_bytes, chunk_bytes);
    Waiter ours, theirs;
    Chunk& first = take(ring, ours, Kind::fill);
    CHECK_FALSE(ring.try_take(theirs, wait_for_any, {}).has_value());
    CHECK(theirs.asleep());
    if (has_input)
      ring.filled(first, false);
    else
      ring.unfilled(first);
    CHECK_FALSE(theirs.asleep());
    take(ring, theirs, Kind::fill);
  }
}

TEST_CASE("only one lane at a time is woken to start a chunk, and it wakes the next") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter ours;
  std::array<Waiter, 3> theirs;
  std::array<Chunk*, 2> chunks{};
  for (Chunk*& chunk : chunks) chunk = &fill_one(ring, ours);
  for (Waiter& waiter : theirs) CHECK_FALSE(ring.try_take(waiter, wait_for_any, {}).has_value());
  const auto asleep = [&] { return std::ranges::count_if(theirs, &Waiter::asleep); };
  for (Chunk* chunk : chunks) ring.give_back(*chunk);
  CHECK(asleep() == 2);
  end(ring, {});  // a lane that asks in the meantime wakes no other
  CHECK(asleep() == 2);
  Waiter& woken = *std::ranges::find_if_not(theirs, &Waiter::asleep);
  take(ring, woken, Kind::work);
  CHECK(asleep() == 1);
}

TEST_CASE("each of several chunks that were given back wakes a lane") {
  Ring ring(3, chunk_bytes, chunk_bytes);
  Waiter waiter;
  std::array<Waiter, 3> waiters;
  std::array<Chunk*, 3> chunks{};
  for (unsigned i = 0; i < 3; ++i) chunks[i] = &fill_one(ring, waiter, i == 2);
  std::vector<std::future<Ring::Task>> others;
  for (Waiter& each : waiters) others.push_back(waits_for_task(ring, each));
  for (auto& other : others) CHECK(is_waiting(other));
  for (Chunk* chunk : chunks) ring.give_back(*chunk);
  for (auto& other : others) CHECK(result_of(std::move(other)).kind == Kind::work);
}

TEST_CASE("lanes end only when all chunks are done, because a held one may be given back") {
  Ring ring(2, chunk_bytes, chunk_bytes);
  Waiter waiter;
  Chunk& first = fill_one(ring, waiter);
  Chunk& second = fill_one(ring, waiter, true);
  std::array<Waiter, 3> waiters;
  std::vector<std::future<Ring::Task>> others;
  for (Waiter& each : waiters) others.push_back(waits_for_task(ring, each));
  end(ring, done(second));
  for (auto& other : others) CHECK(is_waiting(other));
  CHECK(ring.take(waiter, without_waiting, {}).kind == Kind::none);
  take(ring, waiter, Kind::write, done(first));
  for (auto& other : others) CHECK(result_of(std::move(other)).kind == Kind::none);
}

// Reports about waiting ---------------------------------------------------------------------------

namespace {

// Makes waits measurably long.
void time_passes() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

double reader_waits(const Ring& ring) {
  return ring.waits().reader_seconds;
}

double writer_waits(const Ring& ring) {
  return ring.waits().writer_seconds;
}

}  // namespace

TEST_CASE("the reader waits while every chunk is in use") {
  Ring ring(2, 64, 64);
  Waiter waiter;
  time_passes();  // before the first task
  Chunk& first = fill_one(ring, waiter);
  time_passes();  // one is still empty
  Chunk& second = take(ring, waiter, Kind::fill);
  time_passes();  // it is being filled
  ring.filled(second, false);
  CHECK(reader_waits(ring) == 0);
  time_passes();
  take(ring, waiter, Kind::write, done(first));
  time_passes();
  CHECK(reader_waits(ring) == 0);  // the wait is not over
  end(ring, written(first));
  const double waited = reader_waits(ring);
  CHECK(waited > 0);
  time_passes();
  take(ring, waiter, Kind::fill);
  CHECK(reader_waits(ring) == waited);
}

TEST_CASE("the reader waits for chunks that lanes read themselves, too") {
  Cancel cancel;
  const Jitter jitter;
  MemorySource source(test_bytes(2 * chunk_bytes), {.parallel = 2 * chunk_bytes}, cancel, jitter);
  Ring ring(1, chunk_bytes, chunk_bytes);
  ring.set_parallel(source, 2 * chunk_bytes);
  Waiter waiter;
  Chunk& chunk = take(ring, waiter, Kind::work);
  time_passes();
  write(ring, chunk);
  CHECK(reader_waits(ring) >= 0.001);
}

TEST_CASE("the writer waits until the next chunk is filled and done, whatever the state of others") {
  Ring ring(3, 64, 64);
  Waiter waiter;
  Chunk& first = take(ring, waiter, Kind::fill);
  time_passes();
  ring.filled(first, false);
  Chunk& second = fill_one(ring, waiter);
  end(ring, done(second));
  CHECK(writer_waits(ring) == 0);  // the wait is not over
  take(ring, waiter, Kind::write, done(first));
  const double waited = writer_waits(ring);
  CHECK(waited > 0);
  time_passes();  // it is being written
  take(ring, waiter, Kind::write, written(first));
  time_passes();
  end(ring, written(second));
  CHECK(writer_waits(ring) == waited);
  time_passes();
  Chunk& third = fill_one(ring, waiter);
  take(ring, waiter, Kind::write, done(third));
  CHECK(writer_waits(ring) > waited);
}

TEST_CASE("when everything is written, or after cancel(), waiting ends") {
  for (const bool cancelled : {false, true}) {
    CAPTURE(cancelled);
    Ring ring(1, 64, 64);
    Waiter waiter;
    Chunk& chunk = fill_one(ring, waiter, !cancelled);
    time_passes();
    if (cancelled)
      ring.cancel();
    else
      write(ring, chunk);
    const Ring::Waits at_end = ring.waits();
    CHECK(at_end.writer_seconds > 0);
    CHECK((at_end.reader_seconds > 0) == cancelled);
    time_passes();
    ring.cancel();
    CHECK(reader_waits(ring) == at_end.reader_seconds);
    CHECK(writer_waits(ring) == at_end.writer_seconds);
  }
}

TEST_CASE("a lane's wait time is the time in which the ring has no task for it") {
  Ring ring(1, 64, 64);
  Waiter busy, idle;
  Chunk& chunk = fill_one(ring, busy);
  time_passes();
  CHECK(ring.take(busy, without_waiting, {}).kind == Kind::none);  // it does not wait
  auto task = waits_for_task(ring, idle);
  CHECK(is_waiting(task));
  time_passes();
  write(ring, chunk);
  CHECK(gets(task, Kind::fill, &chunk));
  CHECK(idle.waited_seconds() >= 0.001);
  CHECK(busy.waited_seconds() == 0);
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
  std::uint64_t filled = 0;         // in the reader's turn
  std::uint64_t written_count = 0;  // in the writer's turn
  bool in_order = true;
  std::atomic<std::uint64_t> done_count = 0;

  // Runs one lane, which holds up to `depth` chunks at a time. Returns whether it reached the end.
  bool drive(Waiter& waiter, std::size_t depth) {
    std::deque<Chunk*> held;
    Ring::Task ended;
    for (;;) {
      const bool start = held.size() < depth;
      const auto [kind, chunk] =
          ring.take(waiter, {.start = start, .wait = held.empty()}, std::exchange(ended, {}));
      if (kind == Kind::write)
        ended = write(*chunk);
      else if (kind == Kind::work || (kind == Kind::fill && fill(*chunk, held.empty())))
        held.push_back(chunk);
      else if (!held.empty())
        ended = finish(held);
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

  Ring::Task finish(std::deque<Chunk*>& held) {
    Chunk& chunk = *held.front();
    held.pop_front();
    jitter.pause();
    if (mishaps && jitter.random() % 8 == 0) {
      ring.give_back(chunk);
      return {};
    }
    std::memcpy(chunk.out_memory.data(), chunk.in().data(), chunk.in_size);
    chunk.out_size = chunk.in_size;
    ++done_count;
    return done(chunk);
  }

  Ring::Task write(Chunk& chunk) {
    {
      const OneAtATime::Inside inside(writing);
      jitter.pause();
      std::uint64_t number = 0;
      std::memcpy(&number, chunk.out().data(), sizeof number);
      in_order = in_order && number == written_count++;
    }
    return written(chunk);
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
  return traffic.in_order && traffic.written_count == count && traffic.done_count == count;
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
