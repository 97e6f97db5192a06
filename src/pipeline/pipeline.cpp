#include "pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "error.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How long a part-filled chunk waits for more input before it goes on its way. Input that comes slower than a
// chunk in this time does not fill any machine; faster input is not cut up.
constexpr milliseconds flush_after{5};

// Lanes read their chunks in steps of so many bytes, so that what is wiped in the end is what was used.
constexpr std::size_t load_step = 16 << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Pipeline::Pipeline(PipelineParts parts)
    : parts_(std::move(parts)),
      shared_end_(parts_.source.shared_size() / parts_.session.unit_in() * parts_.session.unit_in()),
      behind_shared_(shared_end_ == 0),
      offset_(shared_end_),
      carried_(parts_.session.unit_in()) {
  parts_.ring.share(shared_end_);
}

Pipeline::~Pipeline() {
  stop();
}

void Pipeline::run() {
  try {
    std::lock_guard lock(mutex_);
    running_ = true;
    for (Worker& worker : workers_) start(worker);
  } catch (...) {
    fail(std::current_exception());
  }
  parts_.ring.wait_for_end();
  stop();
  if (failure_) std::rethrow_exception(failure_);
}

// The first failure stands. Wakes whoever waits for the ring or for a descriptor.
void Pipeline::fail(std::exception_ptr error) {
  {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(error);
  }
  parts_.ring.cancel();
  parts_.cancel.request(0);
}

void Pipeline::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  parts_.ring.cancel();  // after a whole run nobody is left in it
  for (Worker& worker : workers_) worker.thread = {};
}

// Lanes -----------------------------------------------------------------------------------------

void Pipeline::add_lane(std::unique_ptr<Lane> lane) {
  std::lock_guard lock(mutex_);
  add_locked(std::move(lane));
}

void Pipeline::replace_lanes(std::vector<std::unique_ptr<Lane>> lanes) {
  std::lock_guard lock(mutex_);
  std::vector<Worker*> old;
  for (Worker& worker : workers_) old.push_back(&worker);
  for (std::unique_ptr<Lane>& lane : lanes) add_locked(std::move(lane));
  for (Worker* worker : old) worker->dismissed = true;  // only now: the new ones have their threads
}

void Pipeline::add_locked(std::unique_ptr<Lane> lane) {
  if (stopped_) return;
  Worker& worker = workers_.emplace_back();
  worker.stats.name = lane->name();
  worker.lane = std::move(lane);
  if (running_) start(worker);
  ++working_;  // last: a thread that the system does not give is nobody to wait for
}

void Pipeline::start(Worker& worker) {
  worker.thread = std::jthread([this, &worker] {
    try {
      work(worker);
    } catch (...) {
      fail(std::current_exception());
    }
    worker.lane.reset();
  });
}

void Pipeline::work(Worker& worker) {
  Chunks under_way;
  try {
    do {
      do_jobs(worker, under_way);
    } while (worker.dismissed && !leave(worker));
  } catch (const LaneError& error) {
    worker.lane.reset();  // from here on nothing of it can write into its chunks
    for (Chunk* chunk : under_way) parts_.ring.give_back(*chunk);
    give_up(worker, error);
  }
}

// Does tasks until there are no more or the worker is dismissed. What is `under_way` was taken and is not
// done.
void Pipeline::do_jobs(Worker& worker, Chunks& under_way) {
  using Kind = Ring::Task::Kind;
  for (;;) {
    const bool idle = under_way.empty();
    const bool start = under_way.size() < worker.lane->depth() && !worker.dismissed;
    const auto [kind, chunk] = parts_.ring.take(worker.seat, {.start = start, .wait = idle && start});
    if (kind == Kind::write)
      write(*chunk);
    else if (kind == Kind::work || (kind == Kind::fill && fill(*chunk, idle)))
      start_job(worker, *chunk, under_way);
    else if (!idle)
      finish_job(worker, under_way);
    else
      return;
  }
}

void Pipeline::start_job(Worker& worker, Chunk& chunk, Chunks& under_way) {
  if (under_way.empty()) worker.busy_since = Clock::now();
  under_way.push_back(&chunk);
  chunk.in_place = chunk.in_source && (parts_.session.in_place() || worker.lane->copies());
  load(chunk);
  worker.lane->start(parts_.session.job({chunk.offset, chunk.in(), chunk.out()}));
}

void Pipeline::finish_job(Worker& worker, Chunks& under_way) {
  const std::optional<std::size_t> bad_segment = worker.lane->finish();
  Chunk& chunk = *under_way.front();
  settle(chunk, bad_segment);
  worker.stats.chunks += chunk.in_size > 0;
  worker.stats.bytes += chunk.in_size;
  under_way.pop_front();
  if (under_way.empty()) worker.stats.busy_seconds += seconds_since(worker.busy_since);
  parts_.ring.done(chunk);
}

// Leaves of the output what may be released.
void Pipeline::settle(Chunk& chunk, std::optional<std::size_t> bad_segment) {
  const Outcome outcome =
      parts_.session.judge({chunk.offset, chunk.in(), chunk.out()}, chunk.last, bad_segment);
  wipe(chunk.out().subspan(outcome.released));
  chunk.out_size = outcome.released;
  if (outcome.error) chunk.error = std::make_exception_ptr(*outcome.error);
}

// False where the worker is the last one and has to stay after all.
bool Pipeline::leave(Worker& worker) {
  std::lock_guard lock(mutex_);
  worker.dismissed = false;
  if (working_ == 1) return false;
  --working_;
  return true;
}

// Leaves the work of a failed lane to the others, or to a spare one if there are none.
void Pipeline::give_up(Worker& worker, const LaneError& error) {
  {
    std::lock_guard lock(mutex_);
    if (working_ == 1) {
      if (spare_used_ || !parts_.spare_lane) throw;  // the LaneError, which now is the program's
      spare_used_ = true;
      add_locked(parts_.spare_lane());
    }
    --working_;
  }
  parts_.warn(fmt::format("lane {} gave up, others do its work: {}", worker.stats.name, error.what()));
}

std::vector<LaneStats> Pipeline::lane_stats() const {
  std::lock_guard lock(mutex_);
  std::vector<LaneStats> stats;
  for (const Worker& worker : workers_) stats.push_back(worker.stats);
  return stats;
}

// The reader's turn -----------------------------------------------------------------------------

// Reads until the chunk is full, or has whole units and nothing more came for a while, or the input ends.
// What is beyond whole units begins the next chunk. False where that is all, and the caller must not wait.
bool Pipeline::fill(Chunk& chunk, bool wait) {
  // What lanes read for themselves ends with whole units, and where the file ended when it was opened.
  if (std::exchange(behind_shared_, true) == false) parts_.source.skip_to(shared_end_);
  chunk.offset = offset_;
  const std::size_t unit = parts_.session.unit_in();
  const std::span<std::byte> in = chunk.in_memory;
  std::ranges::copy(carried_.bytes().first(carried_size_), in.begin());
  std::size_t size = carried_size_;
  bool ended = false;
  try {
    const Clock::time_point start = Clock::now();
    while (size < in.size() && !ended) {
      const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
      const milliseconds patience = size < unit ? milliseconds{0} : std::max(flush_after - waited, {});
      if ((size >= unit || !wait) && !parts_.source.ready(patience)) break;
      const std::size_t count = parts_.source.read(in.subspan(size));
      ended = count == 0;
      size += count;
      chunk.in_touched = std::max(chunk.in_touched, size);
    }
  } catch (const Error&) {
    chunk.error = std::current_exception();
    ended = true;
  }
  // An error is no end: what a shorter last unit would make of it is never written.
  chunk.last = ended && !chunk.error;
  chunk.in_size = chunk.last ? size : size / unit * unit;
  carried_size_ = size - chunk.in_size;
  const std::span<std::byte> beyond = in.subspan(chunk.in_size, carried_size_);
  std::ranges::copy(beyond, carried_.bytes().begin());
  wipe(beyond);  // the ring wipes what it knows of
  if (chunk.in_size == 0 && !ended) {
    parts_.ring.unfilled(chunk);
    return false;
  }
  offset_ += chunk.in_size;
  parts_.ring.filled(chunk, ended);
  return true;
}

// Makes the chunk's input present, and its output as large as it will be.
void Pipeline::load(Chunk& chunk) {
  try {
    for (std::size_t done = 0; chunk.in_source && done < chunk.in_size;) {
      const std::span<std::byte> part = chunk.in().subspan(done, std::min(chunk.in_size - done, load_step));
      done += part.size();
      chunk.in_touched = std::max(chunk.in_touched, done);
      parts_.source.read_at(chunk.offset + done - part.size(), part);
    }
  } catch (const Error&) {
    chunk.error = std::current_exception();
    chunk.in_size = 0;
    chunk.in_source = false;
  }
  chunk.out_size = parts_.session.output_size(chunk.in_size, chunk.last);
  std::size_t& touched = chunk.in_place ? chunk.in_touched : chunk.out_touched;
  touched = std::max(touched, chunk.out_size);
}

// The writer's turn -----------------------------------------------------------------------------

void Pipeline::write(Chunk& chunk) {
  parts_.sink.write(chunk.out());
  bytes_in_ += chunk.in_size;
  bytes_out_ += chunk.out_size;
  if (chunk.error) std::rethrow_exception(chunk.error);
  parts_.ring.written(chunk);
}

}  // namespace gpuaes
