// Times kernels on data in device memory, and with copies to the device and back.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "bench/data.hpp"
#include "bench/report.hpp"
#include "bench/subjects.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

// CUDA streams, and timing of what is enqueued in them.
class Streams {
 public:
  explicit Streams(std::size_t count) : streams_(count) {}

  const Stream& operator[](std::size_t i) const { return streams_[i]; }

  // Seconds from the start of the first to the end of the last operation that `enqueue` puts into the first
  // `used` streams.
  double time(std::size_t used, const std::function<void()>& enqueue) const;

 private:
  std::deque<Stream> streams_;
  Event begin_{cudaEventDefault}, end_{cudaEventDefault};
};

// The numbers of untimed and timed runs. Each phase ends early once its runs have taken `seconds` in total,
// but not before `min_timed` timed runs: longer runs vary less, so fewer are enough.
struct Runs {
  std::size_t warm_ups, timed, min_timed;
  double seconds;
};

// The median of the results of `time`.
double median(const Runs& runs, const std::function<double()>& time);
double median(std::vector<double> values);

// Host memory, pinned like the filter's, for copies to the device and back.
class HostData {
 public:
  explicit HostData(std::size_t size) : in_(size), out_(size), pinned_in_(in_), pinned_out_(out_) {}

  // Copies the inputs of a mode from device memory.
  void fill(const InOut& all) { check(cudaMemcpy(in_.data(), all.in, all.in_bytes, cudaMemcpyDeviceToHost)); }
  // The host addresses that correspond to a piece in device memory.
  const std::byte* in(const InOut& all, const InOut& piece) const { return in_.data() + (piece.in - all.in); }
  std::byte* out(const InOut& all, const InOut& piece) { return out_.data() + (piece.out - all.out); }

 private:
  std::vector<std::byte> in_, out_;
  PinnedRegion pinned_in_, pinned_out_;
};

// Launches with copies of their input and output.
struct CopiedLaunches {
  const BenchKernel* kernel;  // null: only copies
  KernelMode mode;
  std::size_t size;     // of a launch
  std::size_t streams;  // used in turn; at most the number of pieces
  std::size_t launches;
};

// Median times in seconds. LaneError; Cancelled, between two runs.
class LaunchTimes {
 public:
  LaunchTimes(BenchData& data, const Streams& streams, Report& report)
      : data_(data), streams_(streams), report_(report) {}

  // The time of launches_of(size) launches back to back.
  double resident(const BenchKernel& kernel, std::size_t size, const Runs& runs);

  // The time of copies to the device, launches and copies back, as in lanes.
  double with_copies(const CopiedLaunches& what, const Runs& runs);

 private:
  void enqueue(const CopiedLaunches& what, const InOut& all);

  BenchData& data_;
  const Streams& streams_;
  Report& report_;
  std::unique_ptr<HostData> host_;  // allocated when needed, because pinning is slow
};

}  // namespace gpuaes::cuda
