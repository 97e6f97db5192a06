// How -l auto chooses lanes: from what it measures, and the figures in lane/plan_figures.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "lane/plan.hpp"

namespace gpuaes {

// Bytes of input per second with CPU lanes only, and with CUDA lanes.
struct Speeds {
  double cpu, cuda;
};

// What a run can expect. `lane`: of one CPU lane without I/O. `link`: of the link to the device, in each
// direction.
Speeds expected_speeds(unsigned cpus, double lane, double link, const Workload& workload);

// How many bytes of input make CUDA lanes pay off if `opening_cpus` encrypt while they open; none if they
// never do. For a file, this is its minimum size. Otherwise, it is the position at which they are opened,
// which pays off if at least as much input follows.
std::optional<std::uint64_t> bytes_until_cuda_pays(unsigned cpus, unsigned opening_cpus,
                                                   const Speeds& expected);

// What a run did with its first lanes while CUDA opened, and then with CUDA lanes, in bytes of input per
// second.
struct Observed {
  double first, later;
  unsigned first_lanes, all_lanes;  // number of CPU lanes that ran, and that would run without CUDA
};

// Whether CUDA lanes that have taken over continue. The time to open them has already been spent.
bool later_lanes_continue(const Observed& observed);

// The position in the input at which CUDA lanes have saved the CPU time that opening them took; none if they
// save none. Inputs of known length that end before it are not worth opening them.
std::optional<std::uint64_t> bytes_until_cuda_saves(double lane, const Workload& workload);

// These set the lanes of `plan`, some without their counts, and the reason for the choice.
void choose_fastest(LanePlan& plan, const Workload& workload, const Machine& machine);
void choose_low_cpu(LanePlan& plan, const Workload& workload, const Machine& machine);

}  // namespace gpuaes
