#include "pipeline/workers.hpp"

#include <system_error>
#include <utility>

namespace gpuaes {

Workers::Workers(std::function<void(Worker&)> work, LaneFactory fallback_lane, Trace* trace)
    : work_(std::move(work)), fallback_lane_(std::move(fallback_lane)), trace_(trace) {}

// Joining and leaving -----------------------------------------------------------------------------

void Workers::add(std::unique_ptr<Lane> lane) {
  const std::lock_guard lock(mutex_);
  add_locked(std::move(lane), running_);
}

// replacer in tests/models/ring.pml
void Workers::replace(std::vector<std::unique_ptr<Lane>> lanes) {
  const std::lock_guard lock(mutex_);
  std::vector<Worker*> old;
  for (Worker& worker : workers_) old.push_back(&worker);
  for (std::unique_ptr<Lane>& lane : lanes) add_locked(std::move(lane), running_);
  for (Worker* worker : old)
    worker->replaced = true;  // last: no worker may leave before the new ones have joined
}

void Workers::add_locked(std::unique_ptr<Lane> lane, bool in_own_thread) {
  if (closed_) return;
  if (cpus_.empty() && !lane->cpus().empty()) cpus_ = thread_cpus();
  Worker& worker = workers_.emplace_back();
  worker.stats.name = lane->name();
  if (trace_ != nullptr) worker.tracks = LaneTracks(*trace_, *lane, workers_.size());
  worker.lane = std::move(lane);
  if (in_own_thread)
    start(worker);
  else
    not_started_.push_back(&worker);
  start_more_ = !not_started_.empty();
  ++working_;  // last: a worker without a thread must not count
}

bool Workers::leave(Worker& worker) {
  const std::lock_guard lock(mutex_);
  worker.replaced = false;
  if (working_ == 1) return false;
  leave_locked(worker);
  return true;
}

// leave_failed() in tests/models/ring.pml
bool Workers::leave_failed(Worker& worker) {
  const std::lock_guard lock(mutex_);
  if (working_ == 1) {
    if (fallback_used_ || !fallback_lane_) return false;
    fallback_used_ = true;
    add_locked(fallback_lane_(), false);  // the calling thread drives it next
  }
  leave_locked(worker);
  return true;
}

void Workers::leave_locked(Worker& worker) {
  --working_;
  worker.left_ = true;
}

std::vector<std::string> Workers::active_lane_names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const Worker& worker : workers_)
    if (!worker.left_) names.push_back(worker.stats.name);
  return names;
}

std::vector<LaneStats> Workers::stats() const {
  const std::lock_guard lock(mutex_);
  std::vector<LaneStats> stats;
  for (const Worker& worker : workers_) stats.push_back(worker.stats);
  return stats;
}

// Threads ---------------------------------------------------------------------------------------

void Workers::run() {
  std::unique_lock lock(mutex_);
  running_ = true;
  Worker* const first = next_locked();
  lock.unlock();
  drive(first);
}

// A worker that ends may leave work for workers that have not been started, so its thread drives them next.
void Workers::drive(Worker* worker) {
  while (worker != nullptr) {
    {
      const CpuBinding binding(cpus_for(*worker->lane));
      work_(*worker);
    }
    worker->lane.reset();
    const std::lock_guard lock(mutex_);
    worker = next_locked();
  }
}

// If any lane is bound, all are: a new thread inherits the CPUs of the thread that creates it.
CpuList Workers::cpus_for(const Lane& lane) const {
  const std::lock_guard lock(mutex_);
  const CpuList close = common(lane.cpus(), cpus_);
  return close.empty() ? cpus_ : close;
}

void Workers::start(Worker& worker) {
  started_ = true;
  worker.thread_ = std::jthread([this, &worker] { drive(&worker); });
}

// start_next() in tests/models/ring.pml
void Workers::start_next() {
  if (!start_more_) return;  // avoids taking the mutex for every chunk
  const std::lock_guard lock(mutex_);
  Worker* const worker = next_locked();
  if (worker == nullptr) return;
  try {
    start(*worker);
  } catch (const std::system_error&) {  // the existing threads do the work
    not_started_.push_front(worker);
    start_more_ = false;
  }
}

Worker* Workers::next_locked() {
  if (not_started_.empty()) return nullptr;
  Worker* const worker = not_started_.front();
  not_started_.pop_front();
  start_more_ = !not_started_.empty();
  return worker;
}

void Workers::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  not_started_.clear();
}

void Workers::join() {
  for (Worker& worker : workers_) worker.thread_ = {};
}

}  // namespace gpuaes
