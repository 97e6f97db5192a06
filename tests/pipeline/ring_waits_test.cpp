// The ring's reports about waiting: who waited, and for what.
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>

#include "pipeline/ring.hpp"
#include "support/catch.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

using Kind = Ring::Task::Kind;

constexpr Ring::TakeOptions without_waiting{.start = true, .wait = false};
constexpr Ring::TakeOptions wait_for_any{.start = true, .wait = true};

// Makes waits measurably long.
void time_passes() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Chunk& take(Ring& ring, Waiter& waiter, Kind kind) {
  const Ring::Task task = ring.take(waiter, without_waiting);
  REQUIRE(static_cast<int>(task.kind) == static_cast<int>(kind));
  return *task.chunk;
}

Chunk& fill_one(Ring& ring, Waiter& waiter, bool last = false) {
  Chunk& chunk = take(ring, waiter, Kind::fill);
  ring.filled(chunk, last);
  return chunk;
}

double reader_waits(const Ring& ring) {
  return ring.waits().reader_seconds;
}

double writer_waits(const Ring& ring) {
  return ring.waits().writer_seconds;
}

}  // namespace

TEST_CASE("chunks are numbered in stream order, whatever the size of the ring") {
  Ring ring(2, 64, 64);
  Waiter waiter;
  for (std::uint64_t i = 0; i < 10; ++i) {
    Chunk& chunk = take(ring, waiter, Kind::fill);
    CHECK(chunk.number == i);
    if (i == 5) {  // there was no input for it
      ring.unfilled(chunk);
      CHECK(take(ring, waiter, Kind::fill).number == i);
    }
    ring.filled(chunk, false);
    ring.done(chunk);
    CHECK(take(ring, waiter, Kind::write).number == i);
    ring.written(chunk);
  }
}

TEST_CASE("before the first task neither reader nor writer waits") {
  Ring ring(1, 64, 64);
  time_passes();
  Waiter waiter;
  take(ring, waiter, Kind::fill);
  CHECK(reader_waits(ring) == 0);
  CHECK(writer_waits(ring) == 0);
  CHECK(waiter.waited_seconds() == 0);
}

TEST_CASE("the reader waits until the next chunk is done and written") {
  Ring ring(2, 64, 64);
  Waiter waiter;
  Chunk& first = fill_one(ring, waiter);
  time_passes();  // one is still empty
  Chunk& second = take(ring, waiter, Kind::fill);
  time_passes();  // it is being filled
  ring.filled(second, false);
  CHECK(reader_waits(ring) == 0);
  time_passes();
  ring.done(first);
  time_passes();
  Chunk& written = take(ring, waiter, Kind::write);
  time_passes();
  CHECK(reader_waits(ring) == 0);  // the wait is not over
  ring.written(written);
  const double waited = reader_waits(ring);
  CHECK(waited > 0);
  time_passes();
  take(ring, waiter, Kind::fill);
  CHECK(reader_waits(ring) == waited);
}

TEST_CASE("at the end of the input the reader no longer waits") {
  Ring ring(1, 64, 64);
  Waiter waiter;
  Chunk& chunk = fill_one(ring, waiter, true);
  time_passes();
  ring.done(chunk);
  ring.written(take(ring, waiter, Kind::write));
  CHECK(reader_waits(ring) == 0);
}

TEST_CASE("the writer waits until the next chunk is filled and done, whatever the state of others") {
  Ring ring(3, 64, 64);
  Waiter waiter;
  Chunk& first = take(ring, waiter, Kind::fill);
  time_passes();
  ring.filled(first, false);
  Chunk& second = fill_one(ring, waiter);
  ring.done(second);
  CHECK(writer_waits(ring) == 0);  // the wait is not over
  ring.done(first);
  const double waited = writer_waits(ring);
  CHECK(waited > 0);
  time_passes();  // the finished chunk is not being written
  Chunk& written = take(ring, waiter, Kind::write);
  time_passes();  // now it is
  ring.written(written);
  time_passes();  // the second one is also done
  ring.written(take(ring, waiter, Kind::write));
  CHECK(writer_waits(ring) == waited);
  time_passes();
  Chunk& third = fill_one(ring, waiter);
  ring.done(third);
  CHECK(writer_waits(ring) > waited);
}

TEST_CASE("when everything is written, or after cancel(), waiting ends") {
  for (const bool cancelled : {false, true}) {
    CAPTURE(cancelled);
    Ring ring(1, 64, 64);
    Waiter waiter;
    Chunk& chunk = fill_one(ring, waiter, !cancelled);
    time_passes();
    if (cancelled) {
      ring.cancel();
    } else {
      ring.done(chunk);
      ring.written(take(ring, waiter, Kind::write));
    }
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
  Chunk& chunk = fill_one(ring, busy, true);
  time_passes();
  CHECK(ring.take(busy, without_waiting).kind == Kind::none);  // it does not wait
  auto task = in_thread([&] { return ring.take(idle, wait_for_any); });
  CHECK(is_waiting(task));
  ring.done(chunk);
  const Ring::Task next = result_of(std::move(task));
  REQUIRE(next.kind == Kind::write);
  ring.written(*next.chunk);
  CHECK(idle.waited_seconds() > 0);
  CHECK(busy.waited_seconds() == 0);
}

}  // namespace gpuaes
