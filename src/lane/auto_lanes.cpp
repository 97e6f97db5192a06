#include "lane/auto_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpuaes {
namespace {

Speeds expected_for_file(unsigned cpus, double lane, double link, bool from_disk) {
  const double max = from_disk ? figures.usual_disk : figures.link_use * link;
  const double read = from_disk ? 0 : 1 / figures.read;  // CPU seconds per byte
  return {from_disk ? std::min(cpus * lane, max) : cpus / (read + 1 / lane),
          from_disk ? max : std::min(cpus / read, max)};
}

// Between pipes, the programs at the other ends use about as much CPU time as the filter does for reading and
// writing. CUDA lanes use that amount again for transfers over the link.
Speeds expected_for_pipes(unsigned cpus, double lane) {
  const double copy = 1 / figures.pipe_copy;  // CPU seconds per byte
  return {std::min(cpus / (2 * copy + 1 / lane), figures.pipe_copy),
          std::min(cpus / (3 * copy), figures.cuda_pipe_max)};
}

std::string gigabytes(double bytes) {
  return fmt::format("{:.1f} GB", bytes / 1e9);
}

// Number of CPU lanes for the least CPU time per byte. Two CPUs that share a core use more of it for the
// same work. Between pipes, so does a lane that always waits for its turn.
unsigned low_cpu_lane_count(unsigned cpus, const Workload& workload) {
  if (is_file(workload)) return cpu_lane_count((cpus + 1) / 2, workload);
  return std::max(cpu_lane_count(cpus, workload), 2u) - 1;
}

// Why CUDA is not considered, as far as that is known without measuring; empty if it is.
std::string reason_against_cuda(const Workload& workload, const Machine& machine) {
  if (!is_file(workload) && machine.cpus >= lanes_for_pipes(workload))
    return fmt::format("auto: lanes take turns reading the input, which keeps at most {} CPU lanes busy",
                       lanes_for_pipes(workload));
  if (!machine.cuda) return "auto: there is no CUDA device";
  if (is_file(workload) && workload.parallel_bytes < figures.min_cuda_file)
    return "auto: the file is too short to start CUDA";
  return {};
}

// CUDA opens faster if it has a CPU to itself. A run with only one begins with CUDA lanes.
void let_cuda_take_over(LanePlan& plan, const Workload& workload, const Machine& machine) {
  const LaneSpec cuda{Backend::cuda, 0, cuda_stream_count(machine, 1, workload)};
  plan.instead = {{Backend::cpu, {}, cpu_lane_count(machine.cpus, workload)}};
  if (is_file(workload) && machine.cpus == 1) {
    plan.first = {cuda};
  } else {
    plan.first = {{Backend::cpu, {}, cpu_lane_count(std::max(machine.cpus, 2u) - 1, workload)}};
    plan.later = {cuda};
  }
}

}  // namespace

Speeds expected_speeds(unsigned cpus, double lane, double link, const Workload& workload) {
  return is_file(workload) ? expected_for_file(cpus, lane, link, workload.from_disk)
                           : expected_for_pipes(cpus, lane);
}

// While CUDA lanes open, CPU lanes work on all CPUs but one.
std::optional<std::uint64_t> bytes_until_cuda_pays(unsigned cpus, const Speeds& expected) {
  const auto [cpu, cuda] = expected;
  if (cuda < figures.min_gain * cpu) return std::nullopt;
  const double lost = figures.open_seconds * (1 - (cpus - 1) * cpu / (cpus * cuda)) + figures.end_seconds;
  return static_cast<std::uint64_t>(lost / (1 / cpu - 1 / cuda));
}

bool cuda_continues(const Speeds& observed) {
  return observed.cuda >= observed.cpu;
}

std::optional<std::uint64_t> bytes_until_cuda_saves(double lane, const Workload& workload) {
  const double saved = 1 / lane - (is_file(workload) ? 0 : figures.cuda_pipe_cpu);  // CPU seconds per byte
  if (saved <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(figures.cuda_start_cpu / saved);
}

// With a file, a run that uses CUDA begins with it: CPU lanes would do much of the work while CUDA lanes
// open.
void choose_low_cpu(LanePlan& plan, const Workload& workload, const Machine& machine) {
  const LaneSpec cpu{Backend::cpu, {}, low_cpu_lane_count(machine.cpus, workload)};
  plan.first = {cpu};
  if (!machine.cuda) {
    plan.reason = "auto:low-cpu: there is no CUDA device";
    return;
  }
  const double lane = machine.cpu_lane_rate(workload);
  const std::optional<std::uint64_t> enough = bytes_until_cuda_saves(lane, workload);
  const std::string from = gigabytes(static_cast<double>(enough.value_or(0)));
  if (!enough) {
    plan.reason = "auto:low-cpu: CUDA would not save CPU time";
  } else if (!is_file(workload)) {
    plan.later = {{Backend::cuda, 0, figures.pipe_streams}};
    plan.later_from = *enough;
    plan.reason =
        fmt::format("auto:low-cpu: CUDA takes over after {}, where it begins to save CPU time", from);
  } else if (workload.parallel_bytes < *enough) {
    plan.reason = fmt::format("auto:low-cpu: CUDA saves CPU time only for files of at least {}", from);
  } else {
    const unsigned streams = std::min(cuda_stream_count(machine, 1, workload), figures.min_file_streams);
    plan.first = {{Backend::cuda, 0, streams}};
    plan.instead = {cpu};
    plan.reason = fmt::format("auto:low-cpu: CUDA saves CPU time for files of at least {}", from);
  }
}

// A run uses at most one device: a host with several has enough CPUs to do without the others, and each takes
// time to open.
void choose_fastest(LanePlan& plan, const Workload& workload, const Machine& machine) {
  plan.first = {{Backend::cpu, {}, {}}};
  plan.reason = reason_against_cuda(workload, machine);
  if (!plan.reason.empty()) return;
  const double lane = machine.cpu_lane_rate(workload);
  const double link = machine.link_rate().value_or(figures.link);
  const Speeds expected = expected_speeds(machine.cpus, lane, link, workload);
  const std::optional<std::uint64_t> enough = bytes_until_cuda_pays(machine.cpus, expected);
  const std::string from = gigabytes(static_cast<double>(enough.value_or(0)));
  if (!enough) {
    plan.reason = fmt::format("auto: with {} CPUs, CUDA is not likely to be faster", machine.cpus);
  } else if (is_file(workload) && workload.parallel_bytes < *enough) {
    plan.reason =
        fmt::format("auto: with {} CPUs, CUDA is likely to be faster only from {}", machine.cpus, from);
  } else {
    let_cuda_take_over(plan, workload, machine);
    plan.later_from = is_file(workload) ? 0 : *enough;
    plan.reason = fmt::format("auto: with {} CPUs, CUDA is likely to be faster from {}", machine.cpus, from);
  }
  plan.reason +=
      fmt::format(" (a CPU lane encrypts {}/s; the link has {}/s)", gigabytes(lane), gigabytes(link));
}

}  // namespace gpuaes
