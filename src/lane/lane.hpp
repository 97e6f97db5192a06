// A lane is one worker of the pipeline: a CPU thread, or a thread that drives one CUDA stream. Lanes work
// with ciphers, not formats.
//
// Only one thread uses a lane. Jobs finish in the order in which they were started. Between start and finish,
// the spans of a job belong to the lane.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "cipher/job.hpp"

namespace gpuaes {

// A named interval, for the trace.
struct Phase {
  const char* name;  // has static storage duration
  std::chrono::steady_clock::time_point begin, end;
};

class Lane {
 public:
  // Waits until the lane can no longer access the spans of a job, then wipes its secrets. If lanes share
  // memory, the last one wipes it.
  virtual ~Lane() = default;

  virtual std::string name() const = 0;  // for --list-lanes and --stats: "cpu", "cuda:0"

  // The number of jobs that may be in flight, at least 1. More than one keeps a GPU busy while the lane's
  // thread reads the next chunk.
  virtual std::size_t depth() const { return 1; }

  // Whether the lane works on its own copies of the data. If so, the output of a job may overlap its input
  // even if they differ in length.
  virtual bool copies() const { return false; }

  // The CPUs close to the lane's device, in ascending order. Its thread should run on these; empty if it does
  // not matter.
  virtual std::span<const unsigned> cpus() const { return {}; }

  // Starts a job, and may complete it immediately. LaneError if the lane cannot continue: its unfinished jobs
  // must then be done by another lane, after this one has been destroyed.
  virtual void start(const Job& job) = 0;

  // Waits for the oldest started job. Returns the index of its first segment whose tag is wrong, if any: the
  // output of this and all later segments must not be used. LaneError as for start().
  virtual std::optional<std::size_t> finish() = 0;

  // The phases, on the device, of the job that finish() last waited for. They are contiguous, and lie between
  // the job's start() and its finish(). Only for lanes opened with LaneSetup::timed. A lane of depth 1 has
  // none, since it does its work in start().
  virtual std::span<const Phase> phases() const { return {}; }
};

}  // namespace gpuaes
