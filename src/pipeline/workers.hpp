// The lanes of a run and the threads that drive them.
//
// The thread that calls run() drives the first lane. Each other lane gets its thread when a chunk has been
// filled and more input follows, so an input of one chunk starts no threads, which would take longer than
// processing it.
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
#include "system/numa.hpp"

namespace gpuaes {

using LaneFactory = std::function<std::unique_ptr<Lane>()>;

// Statistics of one lane.
struct LaneStats {
  std::string name;
  std::uint64_t chunks = 0;  // not counting the empty chunk that may end a stream
  std::uint64_t bytes = 0;   // of input
  double busy_seconds = 0;   // while it holds at least one chunk
  double read_seconds = 0;   // reading its chunks, including waits for input
  double write_seconds = 0;  // writing chunks, including waits for output
  double wait_seconds = 0;   // in the ring, with nothing to do
};

// A lane and the state of the thread that drives it. Only that thread uses it, except where noted.
struct Worker {
  std::unique_ptr<Lane> lane;
  LaneStats stats;
  LaneTracks tracks;
  Waiter waiter;
  std::deque<Chunk*> jobs;  // started and not finished, oldest first
  std::chrono::steady_clock::time_point busy_since;
  std::atomic<bool> replaced{false};  // must end after its jobs; set by any thread

 private:
  friend class Workers;
  bool left_ = false;    // takes no more work; guarded by Workers::mutex_
  std::jthread thread_;  // empty if another worker's thread drives it
};

class Workers {
 public:
  // `work` does a worker's part of the run and must not throw. `fallback_lane` may be empty, `trace` null.
  Workers(std::function<void(Worker&)> work, LaneFactory fallback_lane, Trace* trace);

  // From any thread, before or during run(); during run() the lanes start immediately. replace() also makes
  // the current workers end. std::system_error if a thread cannot be created.
  void add(std::unique_ptr<Lane> lane);
  void replace(std::vector<std::unique_ptr<Lane>> lanes);

  // Drives the first worker, then any others that have no thread.
  void run();

  // Starts the next worker that has no thread, if any. Call this when there is more work than the running
  // workers have taken.
  void start_next();

  // Called when a worker has been replaced, or when its lane has failed. Returns true if the worker may leave
  // its work to others. The last worker may not: if it was replaced, it continues; if its lane failed, a
  // fallback lane replaces it, and false means that there is no fallback lane or that it has also failed.
  bool leave(Worker& worker);
  bool leave_failed(Worker& worker);

  // close(): from now on, no lanes are added and no threads started. join(), called after close(), waits for
  // the threads.
  void close();
  void join();

  bool have_threads() const { return started_; }  // in addition to the thread of run()

  std::vector<std::string> active_lane_names() const;  // of workers that have not left; from any thread
  std::vector<LaneStats> stats() const;                // complete after run() and join()

 private:
  void add_locked(std::unique_ptr<Lane> lane, bool in_own_thread);
  void leave_locked(Worker& worker);
  void start(Worker& worker);
  Worker* next_locked();
  void drive(Worker* worker);
  CpuList cpus_for(const Lane& lane) const;

  const std::function<void(Worker&)> work_;
  const LaneFactory fallback_lane_;
  Trace* const trace_;

  std::atomic<bool> started_{false};  // any thread

  mutable std::mutex mutex_;  // guards all members below
  bool running_ = false;
  bool closed_ = false;
  std::list<Worker> workers_;
  std::deque<Worker*> not_started_;
  std::atomic<bool> start_more_{false};  // not_started_ is not empty, and the system has not refused a thread
  std::size_t working_ = 0;              // workers that have not left; the last one does not leave
  bool fallback_used_ = false;
  CpuList cpus_;  // those of the thread that added the first lane with CPUs of its own; empty before that
};

}  // namespace gpuaes
