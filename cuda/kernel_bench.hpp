// gpuaes-bench kernels: the speed of the kernels alone, with data that stay in device memory.
#pragma once

namespace gpuaes::cuda {

// Prints a line for each key size and launch size; says that it skips where there is no device. Before it
// times anything it compares the output with libcrypto's; a difference is an Error.
void run_kernel_bench();

}  // namespace gpuaes::cuda
