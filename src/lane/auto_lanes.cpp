#include "lane/auto_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpuaes {
namespace {

// Bytes per second with CPU lanes only, and with the lanes that take over if a device is used.
struct Choice {
  double alone, together;
};

// Bytes per second of a CPU lane next to CUDA lanes.
double cpu_rate_with_cuda(const LaneRates& rates) {
  return std::min(figures.cpu_lane_with_cuda, rates.cpu_lane);
}

// With a file, CPUs drive the device first, and those not needed for it run CPU lanes. But if a CPU lane
// takes longer for one chunk than the device takes for the rest of the ring, the device has to wait.
unsigned cpu_count_with_cuda(unsigned cpus, unsigned streams, const LaneRates& rates) {
  constexpr std::size_t chunks = cuda_jobs_per_lane * figures.max_file_streams + figures.extra_cuda_chunks;
  const bool keep_up = cpu_rate_with_cuda(rates) * static_cast<double>(chunks) > rates.max_cuda;
  return keep_up ? cpus - std::min(cpus, streams) : 0;
}

Choice choice_for_file(unsigned cpus, const LaneRates& rates) {
  const double cpu_lanes =
      cpu_count_with_cuda(cpus, figures.max_file_streams, rates) * cpu_rate_with_cuda(rates);
  return {std::min(cpus * rates.cpu_lane, rates.max_cpu),
          std::min(std::min(cpus * figures.cuda_lane, rates.max_cuda) + cpu_lanes, rates.max_together)};
}

// Between pipes, the programs at the other ends use about as much CPU time as the filter does for reading and
// writing. CUDA lanes use that amount again for transfers over the link.
Choice choice_for_pipes(unsigned cpus, const LaneRates& rates) {
  const double copy = 1 / figures.pipe_copy;  // CPU seconds per byte
  return {std::min(cpus / (2 * copy + 1 / rates.cpu_lane), figures.pipe_copy),
          std::min(cpus / (3 * copy), figures.cuda_pipe_max)};
}

// Number of CPU lanes for the least CPU time per byte. Two CPUs that share a core use more of it for the
// same work. Between pipes, so does a lane that always waits for its turn.
unsigned low_cpu_lane_count(unsigned cpus, const Workload& workload) {
  if (is_file(workload)) return cpu_lane_count((cpus + 1) / 2, workload);
  return std::max(cpu_lane_count(cpus, workload), 2u) - 1;
}

}  // namespace

std::optional<std::uint64_t> bytes_until_cuda_pays(unsigned cpus, const Workload& workload) {
  const auto [alone, together] =
      is_file(workload) ? choice_for_file(cpus, workload.rates) : choice_for_pipes(cpus, workload.rates);
  if (together < figures.min_gain * alone) return std::nullopt;
  return static_cast<std::uint64_t>((figures.open_seconds * (1 - alone / together) + figures.end_seconds) /
                                    (1 / alone - 1 / together));
}

std::optional<std::uint64_t> bytes_until_cuda_saves(const Workload& workload) {
  const double cuda = is_file(workload) ? figures.cuda_file_cpu : figures.cuda_pipe_cpu;
  const double saved = 1 / workload.rates.cpu_lane - cuda;  // CPU seconds per byte
  if (saved <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(figures.cuda_start_cpu / saved);
}

// With a file, a run that uses CUDA begins with it: CPU lanes would do much of the work while CUDA lanes
// open.
void choose_low_cpu(LanePlan& plan, const Workload& workload, const Machine& machine) {
  const bool file = is_file(workload);
  const LaneSpec cpu{Backend::cpu, {}, low_cpu_lane_count(machine.cpus, workload)};
  plan.first = {cpu};
  const std::optional<std::uint64_t> enough = bytes_until_cuda_saves(workload);
  const double gigabytes = static_cast<double>(enough.value_or(0)) / 1e9;
  if (!machine.cuda) {
    plan.reason = "auto:low-cpu: there is no CUDA device";
  } else if (!enough) {
    plan.reason = "auto:low-cpu: CUDA would not save CPU time";
  } else if (!file) {
    plan.later = {{Backend::cuda, 0, figures.pipe_streams}};
    plan.later_from = *enough;
    plan.reason = fmt::format(
        "auto:low-cpu: CUDA takes over after {:.1f} GB, where it begins to save CPU time", gigabytes);
  } else if (workload.parallel_bytes < *enough) {
    plan.reason =
        fmt::format("auto:low-cpu: CUDA saves CPU time only for files of at least {:.1f} GB", gigabytes);
  } else {
    const unsigned streams = std::min(cuda_stream_count(machine, 1, workload), figures.min_file_streams);
    plan.first = {{Backend::cuda, 0, streams}};
    plan.instead = {cpu};
    plan.reason = fmt::format("auto:low-cpu: CUDA saves CPU time for files of at least {:.1f} GB", gigabytes);
  }
}

// A run begins with CPU lanes. It uses at most one device: a host with several has enough CPUs to do without
// the others, and each takes time to open.
void choose_fastest(LanePlan& plan, const Workload& workload, const Machine& machine) {
  plan.first = {{Backend::cpu, {}, {}}};
  const bool file = is_file(workload);
  if (!file && machine.cpus >= lanes_for_pipes(workload)) {
    plan.reason =
        fmt::format("auto: lanes take turns reading the input, which keeps at most {} CPU lanes busy",
                    lanes_for_pipes(workload));
    return;
  }
  const std::optional<std::uint64_t> enough = bytes_until_cuda_pays(machine.cpus, workload);
  const double gigabytes = static_cast<double>(enough.value_or(0)) / 1e9;
  if (!machine.cuda) {
    plan.reason = "auto: there is no CUDA device";
  } else if (!enough) {
    plan.reason = fmt::format("auto: with {} CPUs, CUDA is not faster", machine.cpus);
  } else if (file && workload.parallel_bytes < *enough) {
    plan.reason =
        fmt::format("auto: with {} CPUs, CUDA is faster only from {:.1f} GB", machine.cpus, gigabytes);
  } else if (file) {
    const unsigned streams = cuda_stream_count(machine, 1, workload);
    plan.later = {{Backend::cuda, 0, streams}};
    if (const unsigned others = cpu_count_with_cuda(machine.cpus, streams, workload.rates); others > 0)
      plan.later.push_back({Backend::cpu, {}, others});
    plan.reason =
        fmt::format("auto: CUDA takes over once it is initialized; it is faster from {:.1f} GB", gigabytes);
  } else {
    plan.later = {{Backend::cuda, 0, cuda_stream_count(machine, 1, workload)}};
    plan.later_from = *enough;
    plan.reason =
        fmt::format("auto: lanes take turns reading the input; CUDA takes over after {:.1f} GB", gigabytes);
  }
}

}  // namespace gpuaes
