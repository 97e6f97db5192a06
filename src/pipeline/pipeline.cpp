#include "pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "base/texts.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

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
  std::unique_lock lock(mutex_);
  running_ = true;
  Worker* const mine = next_locked();
  lock.unlock();
  drive(mine);
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
    undriven_.clear();  // from here on no thread is started
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
  for (Worker* worker : old) worker->dismissed = true;  // only now: whoever leaves finds the new ones there
}

void Pipeline::add_locked(std::unique_ptr<Lane> lane) {
  if (stopped_) return;
  Worker& worker = workers_.emplace_back();
  worker.stats.name = lane->name();
  if (parts_.trace != nullptr) worker.tracks = LaneTracks(*parts_.trace, *lane, workers_.size());
  worker.lane = std::move(lane);
  if (running_)
    start(worker);
  else
    undriven_.push_back(&worker);
  undriven_left_ = !undriven_.empty();
  ++working_;  // last: a thread that the system does not give is nobody to wait for
}

void Pipeline::start(Worker& worker) {
  worker.thread = std::jthread([this, &worker] { drive(&worker); });
}

// For when there is more to do than the workers that are driven have begun.
void Pipeline::start_next() {
  if (!undriven_left_) return;  // without the mutex, which all lanes would want for every chunk
  std::lock_guard lock(mutex_);
  Worker* const worker = next_locked();
  if (worker == nullptr) return;
  try {
    start(*worker);
  } catch (const std::system_error&) {  // the system gives no more threads: those that there are do the work
    undriven_.push_front(worker);
    undriven_left_ = false;
  }
}

Pipeline::Worker* Pipeline::next_locked() {
  if (undriven_.empty()) return nullptr;
  Worker* const worker = undriven_.front();
  undriven_.pop_front();
  undriven_left_ = !undriven_.empty();
  return worker;
}

// A worker that ends may have left its work to those that nobody drives: so the thread goes on with them.
void Pipeline::drive(Worker* worker) {
  while (worker != nullptr) {
    try {
      work(*worker);
    } catch (...) {
      fail(std::current_exception());
    }
    worker->lane.reset();
    std::lock_guard lock(mutex_);
    worker = next_locked();
  }
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
    const auto [kind, chunk] = take(worker, {.start = start, .wait = idle && start});
    if (kind == Kind::write)
      write(worker, *chunk);
    else if (kind == Kind::work || (kind == Kind::fill && fill(worker, *chunk, idle)))
      start_job(worker, *chunk, under_way);
    else if (!idle)
      finish_job(worker, under_way);
    else
      return;
  }
}

Ring::Task Pipeline::take(Worker& worker, Ring::TakeOptions options) {
  const bool traced = worker.tracks.wanted();
  const Clock::time_point begin = traced ? Clock::now() : Clock::time_point{};
  const double waited = worker.waiter.waited_seconds();
  const Ring::Task task = parts_.ring.take(worker.waiter, options);
  worker.stats.wait_seconds = worker.waiter.waited_seconds();
  if (traced && worker.stats.wait_seconds > waited) worker.tracks.add({"wait", begin, Clock::now()}, nullptr);
  return task;
}

void Pipeline::start_job(Worker& worker, Chunk& chunk, Chunks& under_way) {
  const bool is_end =
      chunk.in_source ? chunk.offset + chunk.in_size == shared_end_ : chunk.last || chunk.error;
  if (!is_end) start_next();
  if (under_way.empty()) worker.busy_since = Clock::now();
  under_way.push_back(&chunk);
  chunk.in_place = chunk.in_source && (parts_.session.in_place() || worker.lane->copies());
  load(worker, chunk);
  const bool at_once = worker.lane->depth() == 1;
  const Span span(at_once ? "cipher" : "enqueue", worker.tracks, chunk);
  worker.lane->start(parts_.session.job({chunk.offset, chunk.in(), chunk.out()}));
}

void Pipeline::finish_job(Worker& worker, Chunks& under_way) {
  Chunk& chunk = *under_way.front();
  const std::optional<std::size_t> bad_segment = await(worker, chunk);
  release_verified(chunk, bad_segment);
  worker.stats.chunks += chunk.in_size > 0;
  worker.stats.bytes += chunk.in_size;
  under_way.pop_front();
  if (under_way.empty()) worker.stats.busy_seconds += seconds_since(worker.busy_since);
  parts_.ring.done(chunk);
}

// Waits until the lane has done the chunk, which is the oldest that it was given.
std::optional<std::size_t> Pipeline::await(Worker& worker, const Chunk& chunk) {
  if (worker.lane->depth() == 1) return worker.lane->finish();  // it was done when it was started
  std::optional<std::size_t> bad_segment;
  {
    const Span span("device", worker.tracks, chunk);
    bad_segment = worker.lane->finish();
  }
  worker.tracks.add_job(worker.lane->phases(), chunk);
  return bad_segment;
}

// Leaves of the output what may be released.
void Pipeline::release_verified(Chunk& chunk, std::optional<std::size_t> bad_segment) {
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
  return worker.left = true;
}

// Leaves the work of a failed lane to the others, or to a fallback lane if there are none.
void Pipeline::give_up(Worker& worker, const LaneError& error) {
  {
    std::lock_guard lock(mutex_);
    if (working_ == 1) {
      if (fallback_used_ || !parts_.fallback_lane) throw;  // the LaneError, which now is the program's
      fallback_used_ = true;
      add_locked(parts_.fallback_lane());
    }
    --working_;
    worker.left = true;
  }
  parts_.warn(fmt::format(text::lane_gave_up, worker.stats.name, error.what()));
}

std::vector<std::string> Pipeline::lanes_at_work() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const Worker& worker : workers_)
    if (!worker.left) names.push_back(worker.stats.name);
  return names;
}

std::vector<LaneStats> Pipeline::lane_stats() const {
  std::lock_guard lock(mutex_);
  std::vector<LaneStats> stats;
  for (const Worker& worker : workers_) stats.push_back(worker.stats);
  return stats;
}

}  // namespace gpuaes
