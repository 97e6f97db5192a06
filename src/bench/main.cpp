// gpuaes-bench: measures parts of the filter, and its limits.

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
    Command{"copy", "SIZE <INPUT >OUTPUT", 1, 1,
            "Copy standard input to standard output, SIZE bytes at a time.", run_copy_bench, false},
    Command{"read", "THREADS SIZE [BUFFERS] <FILE", 2, 3, "Read a file in parallel, SIZE bytes per call.",
            run_read_bench},
    Command{"memory", "[THREADS]", 0, 1,
            "Encrypt and decrypt on CPU lanes, with data that stays in the cache.", run_memory_bench, true,
            memory_options()},
    Command{"pipeline", "", 0, 0, "Measure the overhead of the lanes and the ring, without I/O.",
            run_pipeline_bench, true, pipeline_options()},
    Command{"device", "[SIZE]", 0, 1, "Copy SIZE bytes to and from each CUDA device.", run_device_bench},
    Command{"transfer", "", 0, 0, "Copy chunks to CUDA devices and back as lanes do, without a cipher.",
            run_transfer_bench, true, transfer_options()},
    Command{"limits", "", 0, 0, "Measure the limits of a CUDA device: memory, logic and shared memory.",
            run_limit_bench},
    Command{"kernels", "", 0, 0, "Run CUDA kernels, and compare them with the limits of the device.",
            run_kernel_bench, true, kernel_options()},
    Command{"keys", "", 0, 0, "Test whether the speed of CUDA kernels depends on the key.", run_key_bench,
            true, key_options()},
    Command{"sweep", "", 0, 0, "Find the best launch parameters for a CUDA device.", run_sweep_bench, true,
            sweep_options()},
};

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-bench", [&](Messages&) { run_command(commands, argc, argv); });
}
