// The pipeline: each lane is driven by a thread, which takes chunks from the ring. A free lane reads the next
// piece of the input, processes it, and writes the next chunk of the stream (pipeline/ring.hpp).
//
// The ring decides which task is next, Workers manages the lanes and their threads, and ChunkSteps does the
// tasks. Pipeline has the loop that every thread runs, and handles failures.
//
// A failed lane loses no data: its chunks go back to the ring for other lanes.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "format/format.hpp"
#include "io/cancel.hpp"
#include "io/source_sink.hpp"
#include "lane/lane.hpp"
#include "pipeline/chunk_steps.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/trace.hpp"
#include "pipeline/workers.hpp"

namespace gpuaes {

struct PipelineParts {
  Ring& ring;
  Source& source;
  Sink& sink;
  const Session& session;
  Cancel& cancel;
  LaneFactory fallback_lane;                     // makes a lane after the last one has failed; may be empty
  std::function<void(const std::string&)> warn;  // called from any lane's thread
  Trace* trace = nullptr;                        // null: no trace
};

class Pipeline {
 public:
  explicit Pipeline(PipelineParts parts);
  ~Pipeline() { stop(); }  // stops and joins all threads

  // Adds a lane, from any thread, before or during run(); during run() the lane starts immediately.
  void add_lane(std::unique_ptr<Lane> lane) { workers_.add(std::move(lane)); }

  // Replaces the current lanes, which finish their jobs and end.
  void replace_lanes(std::vector<std::unique_ptr<Lane>> lanes) { workers_.replace(std::move(lanes)); }

  // Moves the stream from source to sink and returns once all of it has been written. Throws the first error
  // in stream order, or Cancelled. Call it only once, after the header has been written. With a single lane,
  // the calling thread does everything.
  void run();

  std::uint64_t bytes_in() const noexcept { return steps_.bytes_in(); }  // so far; from any thread
  std::uint64_t bytes_out() const noexcept { return steps_.bytes_out(); }
  std::vector<std::string> active_lanes() const { return workers_.active_lane_names(); }  // from any thread
  std::vector<LaneStats> lane_stats() const { return workers_.stats(); }  // complete once run() has ended

 private:
  void work(Worker& worker);
  void do_tasks(Worker& worker);
  void do_tasks_until_replaced(Worker& worker);
  Ring::Task take(Worker& worker, Ring::TakeOptions options, Ring::Task ended);
  void fail(std::exception_ptr error);
  void stop();

  Ring& ring_;
  Cancel& cancel_;
  const std::function<void(const std::string&)> warn_;
  ChunkSteps steps_;
  std::mutex mutex_;  // guards failure_
  std::exception_ptr failure_;
  Workers workers_;
};

}  // namespace gpuaes
