// gpuaes-bench kernels: how fast kernels are, beside what the device lets them be.
#pragma once

#include <vector>

#include "bench/kernel_request.hpp"
#include "bench/report.hpp"

namespace gpuaes::cuda {

// UsageError for names that no kernel has, and where none has any of the ciphers in any of the modes. Wants
// no device.
void check_kernel_request(const KernelRequest& request);

std::vector<Column> kernel_columns();

// Reports a row for each kernel, cipher, mode, size and kind of copies that goes together. Before it times a
// kernel it compares the output with that of the CPU lanes; a difference is a LaneError. What the device has
// no room for is skipped.
void run_kernel_bench(const KernelRequest& request, Report& report);

}  // namespace gpuaes::cuda
