#include "pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/error.hpp"
#include "base/texts.hpp"

namespace gpuaes {

Pipeline::Pipeline(PipelineParts parts)
    : parts_(std::move(parts)),
      steps_(parts_.ring, parts_.source, parts_.sink, parts_.session),
      workers_([this](Worker& worker) { work(worker); }, parts_.fallback_lane, parts_.trace) {}

Pipeline::~Pipeline() {
  stop();
}

void Pipeline::run() {
  workers_.run();
  parts_.ring.wait_for_end();
  stop();
  if (failure_) std::rethrow_exception(failure_);
}

void Pipeline::stop() {
  workers_.close();
  parts_.ring.cancel();  // after a whole run no thread is left in it
  workers_.join();
}

// The first failure is the run's. Wakes the threads that wait for the ring or for a descriptor.
void Pipeline::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(error);
  }
  parts_.ring.cancel();
  parts_.cancel.request(0);
}

// A worker's share of the run.
void Pipeline::work(Worker& worker) {
  try {
    do_tasks(worker);
  } catch (...) {
    fail(std::current_exception());
  }
}

void Pipeline::do_tasks(Worker& worker) {
  try {
    do {
      do_tasks_until_replaced(worker);
    } while (worker.replaced && !workers_.leave(worker));
  } catch (const LaneError& error) {
    worker.lane.reset();  // from here on it cannot write into its chunks
    for (Chunk* chunk : worker.jobs) parts_.ring.give_back(*chunk);
    if (!workers_.leave_failed(worker)) throw;  // the LaneError is then the run's failure
    parts_.warn(fmt::format(text::lane_gave_up, worker.stats.name, error.what()));
  }
}

// Until there are no more tasks, or the worker is replaced and has finished its jobs.
void Pipeline::do_tasks_until_replaced(Worker& worker) {
  using Kind = Ring::Task::Kind;
  for (;;) {
    const bool idle = worker.jobs.empty();
    const bool start = worker.jobs.size() < worker.lane->depth() && !worker.replaced;
    const auto [kind, chunk] = take(worker, {.start = start, .wait = idle && start});
    if (kind == Kind::write) {
      steps_.write(worker, *chunk);
    } else if (kind == Kind::work || (kind == Kind::fill && steps_.fill(worker, *chunk, idle))) {
      if (!steps_.is_end(*chunk)) workers_.start_next();
      steps_.start(worker, *chunk);
    } else if (!idle) {
      steps_.finish(worker);
    } else {
      return;
    }
  }
}

Ring::Task Pipeline::take(Worker& worker, Ring::TakeOptions options) {
  using Clock = std::chrono::steady_clock;
  const bool traced = worker.tracks.wanted();
  const Clock::time_point begin = traced ? Clock::now() : Clock::time_point{};
  const double waited = worker.waiter.waited_seconds();
  const Ring::Task task = parts_.ring.take(worker.waiter, options);
  worker.stats.wait_seconds = worker.waiter.waited_seconds();
  if (traced && worker.stats.wait_seconds > waited) worker.tracks.add({"wait", begin, Clock::now()}, nullptr);
  return task;
}

}  // namespace gpuaes
