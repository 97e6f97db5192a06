// gpuaes-bench limits: what the device does at most of what kernels take.
#pragma once

#include <vector>

#include "bench/report.hpp"

namespace gpuaes::cuda {

std::vector<Column> limit_columns();

// Reports a row for each limit, of the first device. LaneError.
void run_limit_bench(Report& report);

}  // namespace gpuaes::cuda
