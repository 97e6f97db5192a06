// gpuaes-bench: measures parts of the filter, and what limits it.

#include <array>

#include "bench/benches.hpp"
#include "bench/cuda_requests.hpp"
#include "cli/program.hpp"

namespace gpuaes {
namespace {

// To add a benchmark:
// 1. Declare its function in bench/benches.hpp.
// 2. Define it in a file of its own in src/bench. If it needs CUDA, define it in cuda/bench, and a refusal in
//    without_cuda.cpp.
// 3. Add its row here, and describe it in man/gpuaes-bench.1.
const std::array commands{
    Command{"copy", "SIZE <INPUT >OUTPUT", 1, 1, "copies without a cipher, SIZE bytes at a time",
            run_copy_bench, false},
    Command{"read", "THREADS SIZE [BUFFERS] <FILE", 2, 3,
            "reads in parallel without a cipher, SIZE bytes per call", run_read_bench},
    Command{"memory", "[THREADS]", 0, 1, "ciphers of CPU lanes on data in the cache", run_memory_bench, true,
            memory_options()},
    Command{"device", "[SIZE]", 0, 1, "copies to and from CUDA devices, SIZE bytes at a time",
            run_device_bench},
    Command{"kernels", "", 0, 0, "CUDA kernels, and what limits each of them", run_kernel_bench, true,
            kernel_options()},
    Command{"keys", "", 0, 0, "whether the time of a CUDA kernel depends on the key", run_key_bench, true,
            key_options()},
    Command{"sweep", "", 0, 0, "which launches suit a CUDA device best", run_sweep_bench, true,
            sweep_options()},
    Command{"limits", "", 0, 0, "resources of a CUDA device that kernels use", run_limit_bench},
    Command{"pipeline", "", 0, 0, "lanes and their ring, without input and output", run_pipeline_bench, true,
            pipeline_options()},
};

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-bench", [&](Messages&) { run_command(commands, argc, argv); });
}
