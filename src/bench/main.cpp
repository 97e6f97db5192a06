// gpuaes-bench: measures parts of the filter, and its limits.

#include "bench/benches.hpp"
#include "cli/option_values.hpp"
#include "cli/program.hpp"

namespace gpuaes {
namespace {

const OptionText cpu_ciphers{"ciphers", "NAMES",
                             "aes-128, aes-192, aes-256 (the default) and kuznyechik, separated by commas.",
                             cipher_names};
const std::vector<OptionText> memory_options{cpu_ciphers};

const std::vector<OptionText> pipeline_options{
    {"lanes,l", "LANES",
     "Lanes to measure, each in the form that gpuaes-stream -l takes, or none[:THREADS] for lanes that do "
     "nothing; separated by commas (default none,cpu).",
     measured_lanes},
    {"chunk-size,b", "SIZES", "Chunk sizes, separated by commas (default 64K,256K,1M,4M,16M)."},
    {"format,f", "FORMATS", "raw (the default), sealed, or both, separated by a comma.",
     words_in<pipeline_formats>},
    cpu_ciphers,
    {"seconds", "N", "The approximate duration of a run (default 0.5)."}};

const std::vector<OptionText> transfer_options{
    {"steps", "STEPS",
     "Steps for each chunk, joined by +: read (from standard input), in (to the device), out (back from it). "
     "Separate several lists with commas (default in,out,in+out)."},
    {"devices", "COUNTS", "Numbers of devices, separated by commas (default 1)."},
    {"streams", "COUNTS", "Numbers of streams per device, separated by commas (default 8)."},
    {"sizes", "SIZES", "Bytes of a chunk, separated by commas (default 2M)."}};

const OptionText variants{
    "variants", "NAMES",
    "Kernels, separated by commas. NAME* means all that begin with NAME; an unknown name lists them all."};
const OptionText ciphers{"ciphers", "NAMES",
                         "aes-128, aes-192, aes-256, kuznyechik and chacha20-poly1305, separated by commas.",
                         kernel_cipher_names};
const OptionText modes{"modes", "MODES", "ctr, seal and open, separated by commas; aead is seal,open.",
                       words_in<kernel_modes>};
const std::vector<OptionText> kernel_options{
    variants,
    ciphers,
    modes,
    {"sizes", "SIZES", "Bytes per launch, separated by commas (default 1K,4K,16K,...,1G)."}};
const std::vector<OptionText> key_options{variants, ciphers, modes};

// To add a benchmark:
// 1. Declare its function in bench/benches.hpp.
// 2. Define it in a file of its own in src/bench. If it needs CUDA, define it in cuda/bench, and a refusal in
//    without_cuda.cpp.
// 3. Add its row here, and describe it in man/gpuaes-bench.1.
const std::array commands{
    Command{"read", "THREADS SIZE <FILE", 2, 2, "Read a file in parallel, SIZE bytes per call.",
            run_read_bench},
    Command{"memory", "[THREADS]", 0, 1,
            "Encrypt and decrypt on CPU lanes, with data that stays in the cache.", run_memory_bench,
            memory_options},
    Command{"pipeline", "", 0, 0, "Measure the overhead of the lanes and the ring, without I/O.",
            run_pipeline_bench, pipeline_options},
    Command{"device", "[SIZE]", 0, 1, "Copy SIZE bytes to and from each CUDA device.", run_device_bench},
    Command{"transfer", "", 0, 0, "Copy chunks to CUDA devices and back as lanes do, without a cipher.",
            run_transfer_bench, transfer_options},
    Command{"limits", "", 0, 0, "Measure the limits of a CUDA device: memory, logic and shared memory.",
            run_limit_bench},
    Command{"kernels", "", 0, 0, "Run CUDA kernels, and compare them with the limits of the device.",
            run_kernel_bench, kernel_options},
    Command{"keys", "", 0, 0, "Test whether the speed of CUDA kernels depends on the key.", run_key_bench,
            key_options},
};

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-bench", [&](Messages&) { run_command(commands, argc, argv); });
}
