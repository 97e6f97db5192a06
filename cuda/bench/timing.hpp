// How long kernels take: with data that stays on the device, and with copies to it and back.
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

// Streams, and how long the device takes for what is put into them.
class Streams {
 public:
  explicit Streams(std::size_t count) : streams_(count) {}

  const Stream& operator[](std::size_t i) const { return streams_[i]; }

  // Seconds from the first of what `enqueue` puts into the first `used` of them to the last of it.
  double time(std::size_t used, const std::function<void()>& enqueue) const;

 private:
  std::deque<Stream> streams_;
  Event begin_{cudaEventDefault}, end_{cudaEventDefault};
};

// How often something is run: first untimed, then timed. Each kind of runs ends early once its runs have
// taken `seconds` together, but not before `min_timed` timed ones: long runs are disturbed less, and need
// fewer.
struct Runs {
  std::size_t warm_ups, timed, min_timed;
  double seconds;
};

// The median of what `time` gives.
double median(const Runs& runs, const std::function<double()>& time);
double median(std::vector<double> values);

// Memory of the host, pinned as that of the filter is, from which data go to the device, and to which they
// come back.
class HostData {
 public:
  explicit HostData(std::size_t size) : in_(size), out_(size), pinned_in_(in_), pinned_out_(out_) {}

  // Has what the pieces of a mode are made of.
  void fill(const InOut& all) { check(cudaMemcpy(in_.data(), all.in, all.in_bytes, cudaMemcpyDeviceToHost)); }
  // Where the same is that is in device memory.
  const std::byte* in(const InOut& all, const InOut& piece) const { return in_.data() + (piece.in - all.in); }
  std::byte* out(const InOut& all, const InOut& piece) { return out_.data() + (piece.out - all.out); }

 private:
  std::vector<std::byte> in_, out_;
  PinnedRegion pinned_in_, pinned_out_;
};

// What is copied with each launch.
struct CopiedLaunches {
  const BenchKernel* kernel;  // null: nothing is done between the copies
  KernelMode mode;
  std::size_t size;     // bytes of a launch
  std::size_t streams;  // that take turns; at most as many as there are pieces
  std::size_t launches;
};

// Medians, in seconds. LaneError; and Cancelled, between two runs.
class LaunchTimes {
 public:
  LaunchTimes(BenchData& data, const Streams& streams, Report& report)
      : data_(data), streams_(streams), report_(report) {}

  // Of launches_of(size) launches, back to back.
  double resident(const BenchKernel& kernel, std::size_t size, const Runs& runs);

  // Of copies to the device, launches and copies back, as lanes do it.
  double with_copies(const CopiedLaunches& what, const Runs& runs);

 private:
  void enqueue(const CopiedLaunches& what, const InOut& all);

  BenchData& data_;
  const Streams& streams_;
  Report& report_;
  std::unique_ptr<HostData> host_;  // once it is needed: it takes long to pin
};

}  // namespace gpuaes::cuda
