#include "lane/auto_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text.hpp"

namespace gpuaes {
namespace {

Speeds expected_for_file(unsigned cpus, double lane, double link) {
  const double read = 1 / figures.read;  // CPU seconds per byte
  return {cpus / (read + 1 / lane), std::min(cpus / read, link)};
}

// Reading takes no CPU time to speak of.
Speeds expected_for_disk(unsigned cpus, double lane, double link) {
  return {std::min(cpus * lane, figures.usual_disk), std::min(figures.usual_disk, link)};
}

// Between pipes, the programs at the other ends use about as much CPU time as the filter does for reading and
// writing. CUDA lanes use that amount again for transfers over the link.
Speeds expected_for_pipes(unsigned cpus, double lane, double link) {
  const double copy = 1 / figures.pipe_copy;  // CPU seconds per byte
  return {std::min(cpus / (2 * copy + 1 / lane), figures.pipe_copy),
          std::min({cpus / (3 * copy), figures.cuda_pipe_max, link})};
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

bool is_too_short(const Workload& workload) {
  return is_file(workload) && workload.parallel_bytes < figures.min_cuda_file;
}

// Two lanes keep up with pipes: one reads and writes while the other encrypts.
bool is_fast_between_pipes(const Workload& workload) {
  return !is_file(workload) && lanes_for_pipes(workload) <= 2;
}

// Why CUDA is not considered, if that is clear without a measurement; otherwise empty.
std::string reason_against_cuda(const Workload& workload, const Machine& machine) {
  if (is_fast_between_pipes(workload) || (!is_file(workload) && machine.cpus >= lanes_for_pipes(workload)))
    return fmt::format("auto: lanes take turns reading the input, which keeps at most {} CPU lanes busy",
                       lanes_for_pipes(workload));
  if (!machine.cuda) return "auto: there is no CUDA device";
  if (is_too_short(workload)) return "auto: the file is too short to start CUDA";
  return {};
}

// CPUs for CPU lanes while CUDA opens, which takes longer if all are busy. Between pipes, CUDA opens later or
// not at all.
unsigned opening_cpus(unsigned cpus, const Workload& workload) {
  return is_file(workload) ? cpus - 1 : cpus;
}

// A file on a single CPU begins with CUDA lanes.
void let_cuda_take_over(LanePlan& plan, const Workload& workload, const Machine& machine) {
  const LaneSpec cuda{Backend::cuda, 0, cuda_stream_count(machine, 1, workload)};
  plan.instead = {{Backend::cpu, {}, cpu_lane_count(machine.cpus, workload)}};
  if (const unsigned cpus = opening_cpus(machine.cpus, workload); cpus > 0) {
    plan.first = {{Backend::cpu, {}, cpu_lane_count(cpus, workload)}};
    plan.later = {cuda};
  } else {
    plan.first = {cuda};
  }
}

}  // namespace

Speeds expected_speeds(unsigned cpus, double lane, double link, const Workload& workload) {
  const auto expected = !is_file(workload)   ? expected_for_pipes
                        : workload.from_disk ? expected_for_disk
                                             : expected_for_file;
  return expected(cpus, lane, figures.link_use * link);
}

std::optional<std::uint64_t> bytes_until_cuda_pays(unsigned cpus, unsigned opening_cpus,
                                                   const Speeds& expected) {
  const auto [cpu, cuda] = expected;
  if (cuda < figures.min_gain * cpu) return std::nullopt;
  const double done = opening_cpus * cpu / (cpus * cuda);  // of what CUDA lanes would do in the same time
  const double lost = figures.open_seconds * (1 - done) + figures.end_seconds;
  return static_cast<std::uint64_t>(lost / (1 / cpu - 1 / cuda));
}

bool later_lanes_continue(const Observed& observed) {
  return observed.later * observed.first_lanes >= observed.first * observed.all_lanes;
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
  if (!machine.cuda || is_too_short(workload) || is_fast_between_pipes(workload)) {
    plan.reason =
        machine.cuda ? "auto:low-cpu: CUDA would not save CPU time" : "auto:low-cpu: there is no CUDA device";
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
  const std::optional<double> link = machine.link_rate();
  const Speeds expected = expected_speeds(machine.cpus, lane, link.value_or(figures.link), workload);
  const std::optional<std::uint64_t> enough =
      bytes_until_cuda_pays(machine.cpus, opening_cpus(machine.cpus, workload), expected);
  const std::string from = gigabytes(static_cast<double>(enough.value_or(0)));
  std::string verdict = fmt::format("is likely to be faster from {}", from);
  if (!enough) {
    verdict = "is not likely to be faster";
  } else if (is_file(workload) && workload.parallel_bytes < *enough) {
    verdict = fmt::format("is likely to be faster only from {}", from);
  } else {
    let_cuda_take_over(plan, workload, machine);
    plan.later_from = is_file(workload) ? 0 : *enough;
  }
  plan.reason = fmt::format(
      "auto: with {}, CUDA {}; a CPU lane encrypts {}/s, and the speed of the link is {}",
      counted(machine.cpus, "CPU"), verdict, gigabytes(lane), link ? gigabytes(*link) + "/s" : "unknown");
}

}  // namespace gpuaes
