#include "pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <chrono>

#include "base/error.hpp"

namespace gpuaes {

Pipeline::Pipeline(PipelineParts parts)
    : ring_(parts.ring),
      cancel_(parts.cancel),
      warn_(std::move(parts.warn)),
      steps_(parts.ring, parts.source, parts.sink, parts.session),
      workers_([this](Worker& worker) { work(worker); }, std::move(parts.fallback_lane), parts.trace) {}

void Pipeline::run() {
  steps_.begin();
  workers_.run();
  ring_.wait_for_end();
  stop();
  if (failure_) std::rethrow_exception(failure_);
}

void Pipeline::stop() {
  workers_.close();
  ring_.cancel();  // wakes all threads; after a complete run none is left
  workers_.join();
}

// Records the run's error, unless there is one already, and wakes the threads that wait for the ring or for a
// descriptor. Without threads of its own, a pipeline may be one of several that share `cancel_`.
void Pipeline::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(error);
  }
  ring_.cancel();
  if (workers_.have_threads()) cancel_.request(0);
}

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
    worker.lane.reset();  // it must no longer write into its chunks
    for (Chunk* chunk : worker.jobs) ring_.give_back(*chunk);
    if (!workers_.leave_failed(worker)) throw;  // this LaneError becomes the run's error
    warn_(fmt::format("worker {} failed ({}); its work was reassigned", worker.stats.name, error.what()));
  }
}

// Returns when there are no more tasks, or when the worker has been replaced and has finished its jobs.
// lane in tests/models/ring.pml
void Pipeline::do_tasks_until_replaced(Worker& worker) {
  using Kind = Ring::Task::Kind;
  Ring::Task ended;
  for (;;) {
    const bool idle = worker.jobs.empty();
    const bool start = worker.jobs.size() < worker.lane->depth() && !worker.replaced;
    const auto [kind, chunk] =
        take(worker, {.start = start, .wait = idle && start}, std::exchange(ended, {}));
    if (kind == Kind::write) {
      steps_.write(worker, *chunk);
      ended = {kind, chunk};
    } else if (kind == Kind::work || (kind == Kind::fill && steps_.fill(worker, *chunk, idle))) {
      if (!steps_.is_end(*chunk)) workers_.start_next();
      steps_.start(worker, *chunk);
    } else if (!idle) {
      ended = {Kind::work, &steps_.finish(worker)};
    } else {
      return;
    }
  }
}

Ring::Task Pipeline::take(Worker& worker, Ring::TakeOptions options, Ring::Task ended) {
  using Clock = std::chrono::steady_clock;
  const bool traced = worker.tracks.enabled();
  const Clock::time_point begin = traced ? Clock::now() : Clock::time_point{};
  const double waited = worker.waiter.waited_seconds();
  const Ring::Task task = ring_.take(worker.waiter, options, ended);
  worker.stats.wait_seconds = worker.waiter.waited_seconds();
  if (traced && worker.stats.wait_seconds > waited) worker.tracks.add({"wait", begin, Clock::now()}, nullptr);
  return task;
}

}  // namespace gpuaes
