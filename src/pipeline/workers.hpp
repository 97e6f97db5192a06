// The lanes of a run and the threads that drive them.
//
// The thread that calls run() drives the first lane. Each other lane gets its thread when a chunk has been
// filled and more are to come. So an input of one chunk starts no thread, which would take longer than the
// work on it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lane/lane.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/trace.hpp"

namespace gpuaes {

using LaneFactory = std::function<std::unique_ptr<Lane>()>;

// What one lane did.
struct LaneStats {
  std::string name;
  std::uint64_t chunks = 0;  // without the empty one that may end a stream
  std::uint64_t bytes = 0;   // of input
  double busy_seconds = 0;   // with a chunk or more in hand
  double read_seconds = 0;   // in reading its chunks, also while the input lets it wait
  double write_seconds = 0;  // in writing chunks, also while the output lets it wait
  double wait_seconds = 0;   // in the ring, with nothing to do
};

// A lane with what the thread that drives it keeps. Only that thread uses it, except where noted.
struct Worker {
  std::unique_ptr<Lane> lane;
  LaneStats stats;
  LaneTracks tracks;
  Waiter waiter;
  std::deque<Chunk*> jobs;  // started and not finished, the oldest first
  std::chrono::steady_clock::time_point busy_since;
  std::atomic<bool> replaced{false};  // it is to end after its jobs; set by any thread

 private:
  friend class Workers;
  bool left_ = false;    // it takes no more work; under the mutex of Workers
  std::jthread thread_;  // none where a thread that is there already drives it
};

class Workers {
 public:
  // `work` does a worker's share of the run and does not throw. `fallback_lane` may be empty, `trace` null.
  Workers(std::function<void(Worker&)> work, LaneFactory fallback_lane, Trace* trace);

  // From any thread, before or during run(); during it the lanes start at once. replace(): the workers that
  // are there are to end. std::system_error if a thread cannot be created.
  void add(std::unique_ptr<Lane> lane);
  void replace(std::vector<std::unique_ptr<Lane>> lanes);

  // Drives the first worker, and after it those that have no thread.
  void run();

  // Starts the next worker that has no thread, if there is one: for when there is more to do than the others
  // have begun.
  void start_next();

  // A worker that was replaced, or whose lane failed, leaves its work to the others. False if it is the last
  // one: if it was replaced it stays after all; if it failed a fallback lane takes its place, and false means
  // that there is none, or that it failed too.
  bool leave(Worker& worker);
  bool leave_failed(Worker& worker);

  // From now on no lane is added and no thread started. join() waits for the threads after that.
  void close();
  void join();

  std::vector<std::string> names_at_work() const;  // of those that have not left; from any thread
  std::vector<LaneStats> stats() const;            // complete once run() has returned and all are joined

 private:
  void add_locked(std::unique_ptr<Lane> lane);
  void leave_locked(Worker& worker);
  void start(Worker& worker);
  Worker* next_locked();
  void drive(Worker* worker);

  const std::function<void(Worker&)> work_;
  const LaneFactory fallback_lane_;
  Trace* const trace_;

  mutable std::mutex mutex_;  // for what follows
  bool running_ = false;
  bool closed_ = false;
  std::list<Worker> workers_;
  std::deque<Worker*> not_started_;
  std::atomic<bool> start_more_{false};  // some are not started, and the system has not refused a thread
  std::size_t working_ = 0;              // workers that have not left; the last one never leaves
  bool fallback_used_ = false;
};

}  // namespace gpuaes
