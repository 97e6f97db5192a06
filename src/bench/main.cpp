// gpuaes-bench: figures that the filter itself cannot show.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "bench/command.hpp"
#include "bench/copy.hpp"
#include "bench/kernel_request.hpp"
#include "bench/memory.hpp"
#include "bench/pipeline.hpp"
#include "bench/read.hpp"
#include "cli/options.hpp"
#include "cli/program.hpp"
#include "lane/backends.hpp"
#include "pipeline/ring.hpp"
#ifdef GPUAES_WITH_CUDA
#include "bench/device_bench.hpp"
#include "bench/kernel_bench.hpp"
#include "bench/key_bench.hpp"
#include "bench/limit_bench.hpp"
#include "bench/sweep_bench.hpp"
#endif

namespace gpuaes {
namespace {

void bench_copy(const Arguments& arguments) {
  run_copy(parse_size(arguments.words[0]));
}

void bench_read(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words;
  const unsigned threads = parse_count(words[0]);
  const unsigned buffers = words.size() > 2 ? parse_count(words[2]) : threads;
  if (buffers < threads) throw UsageError("fewer buffers than threads", "each thread reads into one");
  run_read_bench(threads, parse_size(words[1]), buffers, arguments.form);
}

#ifdef GPUAES_WITH_CUDA
// The memory is the filter's: its ring.
void bench_devices(const Arguments& arguments) {
  std::vector<std::size_t> sizes{1 << 20, 4 << 20, 16 << 20};
  if (!arguments.words.empty()) sizes = {parse_size(arguments.words[0])};
  const std::size_t largest = std::ranges::max(sizes);
  if (largest > cuda::max_copy_bytes) throw UsageError("copies are of 64M at most");
  const Ring ring(require_cuda_devices() * cuda::host_buffers, largest, largest);
  Report report(arguments.form, cuda::device_columns());
  cuda::run_device_bench(sizes, ring.memory(), report);
  report.finish();
}

void bench_kernels(const Arguments& arguments) {
  const KernelRequest request = parse_kernel_request(arguments);
  cuda::check_kernel_request(request);
  require_cuda_devices();
  Report report(arguments.form, cuda::kernel_columns());
  cuda::run_kernel_bench(request, report);
  report.finish();
}

void bench_keys(const Arguments& arguments) {
  const KernelRequest request = parse_key_request(arguments);
  cuda::check_kernel_request(request);
  require_cuda_devices();
  Report report(arguments.form, cuda::key_columns());
  cuda::run_key_bench(request, report);
  report.finish();
}

void bench_limits(const Arguments& arguments) {
  require_cuda_devices();
  Report report(arguments.form, cuda::limit_columns());
  cuda::run_limit_bench(report);
  report.finish();
}

void bench_sweep(const Arguments& arguments) {
  const SweepRequest request = parse_sweep_request(arguments);
  cuda::check_kernel_request(request.kernels);
  require_cuda_devices();
  Report report(arguments.form, cuda::sweep_columns());
  cuda::run_sweep_bench(request, report);
  report.finish();
}
#else
[[noreturn]] void lack_cuda() {
  throw LaneError("this program was built without CUDA");
}

void bench_devices(const Arguments&) {
  lack_cuda();
}

void bench_kernels(const Arguments& arguments) {
  parse_kernel_request(arguments);
  lack_cuda();
}

void bench_keys(const Arguments& arguments) {
  parse_key_request(arguments);
  lack_cuda();
}

void bench_limits(const Arguments&) {
  lack_cuda();
}

void bench_sweep(const Arguments& arguments) {
  parse_sweep_request(arguments);
  lack_cuda();
}
#endif

// To add a measurement: its function, its line here, and in the man page.
const std::array commands{
    Command{"copy", "SIZE <INPUT >OUTPUT", 1, 1, "copies only, SIZE bytes at a time", bench_copy, false},
    Command{"read", "THREADS SIZE [BUFFERS] <FILE", 2, 3, "reads only, in parallel, SIZE bytes a call",
            bench_read},
    Command{"memory", "[THREADS]", 0, 1, "the ciphers of CPU lanes on chunks that stay in caches",
            run_memory_bench, true, memory_options()},
    Command{"device", "[SIZE]", 0, 1, "copies to and from CUDA devices, SIZE bytes each", bench_devices},
    Command{"kernels", "", 0, 0, "CUDA kernels beside what the device lets them be", bench_kernels, true,
            kernel_options()},
    Command{"keys", "", 0, 0, "whether the time of CUDA kernels depends on the key", bench_keys, true,
            key_options()},
    Command{"sweep", "", 0, 0, "the launches that suit a CUDA device best, for the filter", bench_sweep, true,
            sweep_options()},
    Command{"limits", "", 0, 0, "what a CUDA device does at most of what kernels take", bench_limits},
    Command{"pipeline", "", 0, 0, "lanes and their ring, with ends that cost nothing", run_pipeline_bench,
            true, pipeline_options()},
};

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-bench", [&](Messages&) { run_command(commands, argc, argv); });
}
