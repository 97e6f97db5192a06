// The pipeline: lanes, each driven by a thread, take chunks round the ring. The lane that is free reads the
// next piece of the input, does the cipher work, and writes the next chunk of the stream (pipeline/ring.hpp).
//
// Its parts: the ring says which task is next, Workers has the lanes and their threads, ChunkSteps does the
// tasks. Here they are joined: the loop that every thread runs, and what happens if it fails.
//
// A lane that fails loses nothing: its chunks go back to the ring for the others.
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
  LaneFactory fallback_lane;                     // made when the last lane failed; may be empty
  std::function<void(const std::string&)> warn;  // called by any lane's thread
  Trace* trace = nullptr;                        // where the timeline goes, if anywhere
};

class Pipeline {
 public:
  explicit Pipeline(PipelineParts parts);
  ~Pipeline();  // stops and joins all threads

  // A lane for the run. From any thread, before or during run(); during it the lane starts at once.
  void add_lane(std::unique_ptr<Lane> lane) { workers_.add(std::move(lane)); }

  // These lanes take over: the ones that are there end after their jobs.
  void replace_lanes(std::vector<std::unique_ptr<Lane>> lanes) { workers_.replace(std::move(lanes)); }

  // Moves the stream from source to sink; returns when all of it has been written. Throws the first error in
  // stream order, or Cancelled. Not to be called twice.
  void run();

  std::uint64_t bytes_in() const noexcept { return steps_.bytes_in(); }  // so far; from any thread
  std::uint64_t bytes_out() const noexcept { return steps_.bytes_out(); }
  std::vector<std::string> lanes_at_work() const { return workers_.names_at_work(); }  // from any thread
  std::vector<LaneStats> lane_stats() const { return workers_.stats(); }  // complete once run() has ended

 private:
  void work(Worker& worker);
  void do_tasks(Worker& worker);
  void do_tasks_until_replaced(Worker& worker);
  Ring::Task take(Worker& worker, Ring::TakeOptions options);
  void fail(std::exception_ptr error);
  void stop();

  PipelineParts parts_;
  ChunkSteps steps_;
  std::mutex mutex_;  // for the failure
  std::exception_ptr failure_;
  Workers workers_;
};

}  // namespace gpuaes
