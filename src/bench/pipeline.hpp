// gpuaes-bench pipeline: what lanes and the ring between them cost, with ends that cost nothing.
#pragma once

#include "bench/command.hpp"

namespace gpuaes {

std::vector<Command::Option> pipeline_options();

// Runs the filter's pipeline, with a real session, for each kind of lanes and each size of chunks, and
// reports what it moved and where the time of its threads went. UsageError, LaneError.
void run_pipeline_bench(const Arguments& arguments);

}  // namespace gpuaes
