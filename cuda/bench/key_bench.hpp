// gpuaes-bench keys: whether the time that kernels take tells anything about the key.
#pragma once

#include <vector>

#include "bench/kernel_request.hpp"
#include "bench/report.hpp"

namespace gpuaes::cuda {

std::vector<Column> key_columns();

// Reports a row for each kernel, cipher and mode that goes together: how far the times with different keys
// are apart, and how far those of as many series with one key. The request is one of check_kernel_request().
// LaneError.
void run_key_bench(const KernelRequest& request, Report& report);

}  // namespace gpuaes::cuda
