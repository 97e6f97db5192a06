// What a CUDA device is, as its runtime tells and as it measures itself.
#pragma once

#include <string>

#include "bench/report.hpp"

namespace gpuaes::cuda {

// Rows of device_columns(): properties, the link, copies from device memory to device memory, and the same
// copies on two clocks. LaneError.
void report_facts(const std::string& name, int device, Report& report);

}  // namespace gpuaes::cuda
