// gpuaes-bench sweep: which launches suit this device.
#pragma once

#include <vector>

#include "bench/kernel_request.hpp"
#include "bench/report.hpp"

namespace gpuaes::cuda {

std::vector<Column> sweep_columns();

// For each kernel and cipher that go together reports a row for each shape, with data that stays on the
// device, then one for each number of streams, with copies and the shape that was best. Each shape is
// compared with the CPU lanes before it is timed; a difference is a LaneError. What a kernel or the device
// cannot have is skipped.
//
// Where the request says so, what was best for the filter's default kernel is kept, for AES with the
// largest of the keys. IoError. The request is one of check_kernel_request().
void run_sweep_bench(const SweepRequest& request, Report& report);

}  // namespace gpuaes::cuda
