// gpuaes-bench memory: what the CPU lanes would make if bytes cost nothing to move.
#pragma once

#include "bench/command.hpp"

namespace gpuaes {

std::vector<Command::Option> memory_options();

// Counter mode, and GCM or MGM in segments, on the filter's own CPU lane and with chunks of the filter's
// sizes: reports the rates of one thread and of as many at once as were asked for. Before it times anything
// it compares the output with the reference lane's; a difference is a LaneError. UsageError.
void run_memory_bench(const Arguments& arguments);

}  // namespace gpuaes
