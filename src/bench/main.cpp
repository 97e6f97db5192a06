// gpuaes-bench: figures that the filter itself cannot show.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/copy.hpp"
#include "bench/memory.hpp"
#include "bench/read.hpp"
#include "io/fd.hpp"
#include "lane/lanes.hpp"
#include "options.hpp"
#include "pipeline/ring.hpp"
#include "program.hpp"
#ifdef GPUAES_WITH_CUDA
#include "device_bench.hpp"
#include "kernel_bench.hpp"
#endif

namespace gpuaes {
namespace {

using Words = std::vector<std::string>;

constexpr const char* usage =
    "usage: gpuaes-bench copy SIZE <input >output             copies only, SIZE bytes at a time\n"
    "       gpuaes-bench read THREADS SIZE [BUFFERS] <file    reads only, in parallel, SIZE bytes a call\n"
    "       gpuaes-bench memory [THREADS]                     libcrypto on chunks that stay in caches\n"
    "       gpuaes-bench device [SIZE]                        copies to and from CUDA devices, SIZE bytes "
    "each\n"
    "       gpuaes-bench kernels                              CUDA kernels, data resident on the device\n"
    "\n"
    "gpuaes-bench(1) tells more.\n";

unsigned parse_count(const std::string& text) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end || number == 0 || number > 4096)
    throw UsageError(fmt::format("number '{}' is not understood", text), "it is one from 1 to 4096");
  return number;
}

void bench_read(const Words& words) {
  const unsigned threads = parse_count(words[1]);
  const unsigned buffers = words.size() > 3 ? parse_count(words[3]) : threads;
  if (buffers < threads) throw UsageError("fewer buffers than threads", "each thread reads into one");
  run_read_bench(threads, parse_size(words[2]), buffers);
}

#ifdef GPUAES_WITH_CUDA
// The memory is the filter's: its ring.
void bench_devices(const Words& words) {
  std::vector<std::size_t> sizes{1 << 20, 4 << 20, 16 << 20};
  if (words.size() > 1) sizes = {parse_size(words[1])};
  const std::size_t largest = std::ranges::max(sizes);
  if (largest > cuda::most_copy_bytes) throw UsageError("copies are of 64M at most");
  const std::size_t devices = count_cuda_devices();
  if (devices == 0) throw LaneError("no CUDA device can be used");
  const Ring ring(devices * cuda::host_buffers, largest, largest);
  cuda::run_device_bench(sizes, ring.memory());
}

void bench_kernels() {
  cuda::run_kernel_bench();
}
#else
void bench_devices(const Words&) {
  throw LaneError("this program was built without CUDA");
}

void bench_kernels() {
  print("kernels: skipped: built without CUDA\n");
}
#endif

// To add a measurement: its function, its line here, in `usage` and in the man page.
void act(const Words& words) {
  const std::string command = words.empty() ? "" : words[0];
  const auto has = [&](std::size_t least, std::size_t most) {
    return words.size() > least && words.size() <= most + 1;
  };
  if (command == "copy" && has(1, 1))
    run_copy(parse_size(words[1]));
  else if (command == "read" && has(2, 3))
    bench_read(words);
  else if (command == "memory" && has(0, 1))
    run_memory_bench(words.size() > 1 ? parse_count(words[1]) : usable_cpus());
  else if (command == "device" && has(0, 1))
    bench_devices(words);
  else if (command == "kernels" && has(0, 0))
    bench_kernels();
  else if ((command == "-h" || command == "--help") && has(0, 0))
    print(usage);
  else
    throw UsageError("the command line is not understood", "gpuaes-bench -h lists what there is to measure");
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-bench", [&](Messages&) {
    act({argv + 1, argv + argc});
    if (std::fflush(stdout) != 0) throw io_error("write", "standard output", errno);
  });
}
