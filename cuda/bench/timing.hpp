// Checks and times kernels on data in device memory, and with copies to the device and back.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "bench/data.hpp"
#include "bench/report.hpp"
#include "bench/subjects.hpp"
#include "bench/timed_stream.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

// The numbers of untimed and timed runs. Each phase ends early once its runs have taken `seconds` in total,
// but not before `min_timed` timed runs: longer runs vary less, so fewer are enough.
struct Runs {
  std::size_t warm_ups, timed, min_timed;
  double seconds;
};

// LaneError; Cancelled, between two runs.
class KernelTimer {
 public:
  // For launches of up to `size` bytes.
  KernelTimer(std::size_t size, Report& report) : data_(size), report_(report) {}

  BenchData& data() { return data_; }

  // The number of bytes that every kernel is checked with, which includes a partial block.
  static constexpr std::size_t checked_bytes = (16 << 20) + 5;

  // Compares the kernel's output for the first `size` bytes of the data with that of CPU lanes. For AES,
  // these use libcrypto, which shares no code with the kernels or their key expansion; for Kuznyechik, they
  // share the standard's tables and the key expansion. LaneError if it is wrong.
  void check(const BenchKernel& kernel, std::size_t size = checked_bytes);

  // Seals the data in pieces of `size` bytes, for kernels that open them.
  void seal_all(const BenchKernel& sealer, std::size_t size);
  // LaneError if a tag opened since the last call was wrong.
  void check_opened(const BenchKernel& kernel);

  // The rate of launches of `size` bytes back to back, with the data in device memory, in GB/s: in one run of
  // 256 MiB or at most 1000 launches, and the median of several.
  double resident(const BenchKernel& kernel, std::size_t size, const Runs& runs);

 private:
  double median_rate(const Runs& runs, std::size_t bytes, const std::function<double()>& seconds) const;

  BenchData data_;
  TimedStream timed_;
  Report& report_;
};

}  // namespace gpuaes::cuda
