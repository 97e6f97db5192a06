// gpuaes-bench kernels: the speed of the kernels alone, with data that stay in device memory.
#pragma once

#include <vector>

#include "bench/report.hpp"

namespace gpuaes::cuda {

std::vector<Column> kernel_columns();

// Reports a row for each key size, mode and launch size. Before it times anything it compares the output with
// libcrypto's; a difference is an Error.
void run_kernel_bench(Report& report);

}  // namespace gpuaes::cuda
