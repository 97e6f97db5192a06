// How -l auto chooses lanes, using the figures in lane/plan_figures.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "lane/plan.hpp"

namespace gpuaes {

// How many bytes of input make CUDA lanes pay off; none if they never do. For a file, this is its minimum
// size. Otherwise, it is the position at which they take over from CPU lanes, which pays off if at least as
// much input follows.
std::optional<std::uint64_t> bytes_until_cuda_pays(unsigned cpus, const Workload& workload);

// The position in the input at which CUDA lanes have saved the CPU time that opening them took; none if they
// save none. Inputs of known length that end before it are not worth opening them.
std::optional<std::uint64_t> bytes_until_cuda_saves(const Workload& workload);

// These set the lanes of `plan`, some without their counts, and the reason for the choice.
void choose_fastest(LanePlan& plan, const Workload& workload, const Machine& machine);
void choose_low_cpu(LanePlan& plan, const Workload& workload, const Machine& machine);

}  // namespace gpuaes
