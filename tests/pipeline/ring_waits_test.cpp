// What the ring says of waiting: who had to, and for what.
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>

#include "pipeline/ring.hpp"
#include "support/catch.hpp"
#include "support/support.hpp"

namespace gpuaes {
namespace {

using Kind = Ring::Task::Kind;

constexpr Ring::Wish anything{.start = true, .wait = false};
constexpr Ring::Wish whatever_comes{.start = true, .wait = true};

// So that what lasts until then has lasted for some time by the clock.
void time_passes() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Chunk& take(Ring& ring, Seat& seat, Kind kind) {
  const Ring::Task task = ring.take(seat, anything);
  REQUIRE(static_cast<int>(task.kind) == static_cast<int>(kind));
  return *task.chunk;
}

Chunk& fill_one(Ring& ring, Seat& seat, bool last = false) {
  Chunk& chunk = take(ring, seat, Kind::fill);
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

TEST_CASE("chunks are numbered as they come in the stream, and slots have no part in it") {
  Ring ring(2, 64, 64);
  Seat seat;
  for (std::uint64_t i = 0; i < 10; ++i) {
    Chunk& chunk = take(ring, seat, Kind::fill);
    CHECK(chunk.number == i);
    if (i == 5) {  // there was nothing to fill it with
      ring.unfilled(chunk);
      CHECK(take(ring, seat, Kind::fill).number == i);
    }
    ring.filled(chunk, false);
    ring.done(chunk);
    CHECK(take(ring, seat, Kind::write).number == i);
    ring.written(chunk);
  }
}

TEST_CASE("before the first task nobody waits") {
  Ring ring(1, 64, 64);
  time_passes();
  Seat seat;
  take(ring, seat, Kind::fill);
  CHECK(reader_waits(ring) == 0);
  CHECK(writer_waits(ring) == 0);
  CHECK(seat.waited_seconds() == 0);
}

TEST_CASE("the reader waits while no chunk is empty: until the next one has been done, and written") {
  Ring ring(2, 64, 64);
  Seat seat;
  Chunk& first = fill_one(ring, seat);
  time_passes();  // one is empty still
  Chunk& second = take(ring, seat, Kind::fill);
  time_passes();  // it is being filled
  ring.filled(second, false);
  CHECK(reader_waits(ring) == 0);
  time_passes();
  ring.done(first);
  time_passes();
  Chunk& written = take(ring, seat, Kind::write);
  time_passes();
  CHECK(reader_waits(ring) == 0);  // it is not over
  ring.written(written);
  const double waited = reader_waits(ring);
  CHECK(waited > 0);
  time_passes();
  take(ring, seat, Kind::fill);
  CHECK(reader_waits(ring) == waited);
}

TEST_CASE("at the end of the input the reader waits no more") {
  Ring ring(1, 64, 64);
  Seat seat;
  Chunk& chunk = fill_one(ring, seat, true);
  time_passes();
  ring.done(chunk);
  ring.written(take(ring, seat, Kind::write));
  CHECK(reader_waits(ring) == 0);
}

TEST_CASE("the writer waits while the next chunk is not filled, or not done, whatever others are") {
  Ring ring(3, 64, 64);
  Seat seat;
  Chunk& first = take(ring, seat, Kind::fill);
  time_passes();
  ring.filled(first, false);
  Chunk& second = fill_one(ring, seat);
  ring.done(second);
  CHECK(writer_waits(ring) == 0);  // it is not over
  ring.done(first);
  const double waited = writer_waits(ring);
  CHECK(waited > 0);
  time_passes();  // nobody writes what is done
  Chunk& written = take(ring, seat, Kind::write);
  time_passes();  // somebody does
  ring.written(written);
  time_passes();  // the second one is done as well
  ring.written(take(ring, seat, Kind::write));
  CHECK(writer_waits(ring) == waited);
  time_passes();
  Chunk& third = fill_one(ring, seat);
  ring.done(third);
  CHECK(writer_waits(ring) > waited);
}

TEST_CASE("when all is written, or the run is cancelled, nobody waits any more") {
  for (const bool cancelled : {false, true}) {
    CAPTURE(cancelled);
    Ring ring(1, 64, 64);
    Seat seat;
    Chunk& chunk = fill_one(ring, seat, !cancelled);
    time_passes();
    if (cancelled) {
      ring.cancel();
    } else {
      ring.done(chunk);
      ring.written(take(ring, seat, Kind::write));
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

TEST_CASE("a lane's waiting is the time for which the ring had nothing for it") {
  Ring ring(1, 64, 64);
  Seat busy, idle;
  Chunk& chunk = fill_one(ring, busy, true);
  time_passes();
  CHECK(ring.take(busy, anything).kind == Kind::none);  // it has no time to wait
  auto task = in_thread([&] { return ring.take(idle, whatever_comes); });
  CHECK(is_waiting(task));
  ring.done(chunk);
  ring.written(take(ring, busy, Kind::write));
  CHECK(result_of(std::move(task)).kind == Kind::none);
  CHECK(idle.waited_seconds() > 0);
  CHECK(busy.waited_seconds() == 0);
}

}  // namespace gpuaes
