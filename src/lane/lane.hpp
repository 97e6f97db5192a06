// A lane is one worker of the pipeline: a CPU thread, or a thread that drives one CUDA stream. It knows
// ciphers, not formats.
//
// From here on: one thread uses a lane; jobs finish in the order in which they were started; between start
// and finish the spans of the job belong to the lane.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "cipher/job.hpp"

namespace gpuaes {

// A named piece of time, for the trace.
struct Phase {
  const char* name;  // lives as long as the program
  std::chrono::steady_clock::time_point begin, end;
};

class Lane {
 public:
  virtual ~Lane() =
      default;  // waits until nothing of the lane can touch a job's spans, then wipes its secrets

  virtual std::string name() const = 0;  // as in `--list-lanes` and `--stats`: "cpu", "cuda:0"

  // How many jobs may be started and not yet finished: at least 1. More than one keeps a GPU fed while the
  // lane's thread reads the next chunk.
  virtual std::size_t depth() const { return 1; }

  // Whether it works on copies of its own, so that a job's output may take the place of the input also where
  // they differ in length.
  virtual bool copies() const { return false; }

  // Starts a job; may already do it whole. LaneError when the lane cannot go on: the jobs not yet finished
  // are then to be done by another lane, after this one has been destroyed.
  virtual void start(const Job& job) = 0;

  // Waits for the oldest started job. The index of its first segment whose tag is wrong, if one is: of the
  // output of that segment and of all behind it nothing may be used. LaneError as for start().
  virtual std::optional<std::size_t> finish() = 0;

  // What went on where the lane's thread did not see it, of the job that finish() returned last: one phase
  // after the other, between its start() and its finish(). Only of lanes that were opened with
  // LaneSetup::timed; a lane of depth 1 has none, it does its jobs in start().
  virtual std::span<const Phase> phases() const { return {}; }
};

}  // namespace gpuaes
