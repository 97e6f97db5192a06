// gpuaes-bench: figures that the filter itself cannot show.

#include <array>

#include "bench/benches.hpp"
#include "bench/cuda_requests.hpp"
#include "cli/program.hpp"

namespace gpuaes {
namespace {

// To add a bench:
// 1. Declare its function in bench/benches.hpp.
// 2. Define it in a file of its own, in src/bench. If it needs CUDA, in cuda/bench, and without_cuda.cpp too.
// 3. Add its row here, and describe it in man/gpuaes-bench.1.
const std::array commands{
    Command{"copy", "SIZE <INPUT >OUTPUT", 1, 1, "copies only, SIZE bytes at a time", run_copy_bench, false},
    Command{"read", "THREADS SIZE [BUFFERS] <FILE", 2, 3, "reads only, in parallel, SIZE bytes a call",
            run_read_bench},
    Command{"memory", "[THREADS]", 0, 1, "the ciphers of CPU lanes on chunks that stay in caches",
            run_memory_bench, true, memory_options()},
    Command{"device", "[SIZE]", 0, 1, "copies to and from CUDA devices, SIZE bytes each", run_device_bench},
    Command{"kernels", "", 0, 0, "CUDA kernels beside what the device lets them be", run_kernel_bench, true,
            kernel_options()},
    Command{"keys", "", 0, 0, "whether the time of CUDA kernels depends on the key", run_key_bench, true,
            key_options()},
    Command{"sweep", "", 0, 0, "the launches that suit a CUDA device best", run_sweep_bench, true,
            sweep_options()},
    Command{"limits", "", 0, 0, "what a CUDA device does at most of what kernels take", run_limit_bench},
    Command{"pipeline", "", 0, 0, "lanes and their ring, with ends that cost nothing", run_pipeline_bench,
            true, pipeline_options()},
};

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-bench", [&](Messages&) { run_command(commands, argc, argv); });
}
