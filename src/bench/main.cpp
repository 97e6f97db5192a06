// gpuaes-bench: figures that the filter itself cannot show.

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/copy.hpp"
#include "options.hpp"
#ifdef GPUAES_WITH_CUDA
#include "kernel_bench.hpp"
#endif

namespace gpuaes {
namespace {

constexpr const char* usage =
    "usage: gpuaes-bench copy SIZE < input > output    copies only, SIZE bytes at a time\n"
    "       gpuaes-bench kernels                       CUDA kernels, data resident on the device\n";

void bench_kernels() {
#ifdef GPUAES_WITH_CUDA
  cuda::run_kernel_bench();
#else
  std::puts("kernels: skipped: built without CUDA");
#endif
}

// To add a measurement: its function and its line here.
int run(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words[0];
  if (command == "copy" && words.size() == 2)
    run_copy(parse_size(words[1]));
  else if (command == "kernels" && words.size() == 1)
    bench_kernels();
  else
    return std::fputs(usage, stderr), static_cast<int>(Exit::usage);
  return 0;
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  try {
    return gpuaes::run({argv + 1, argv + argc});
  } catch (const gpuaes::Error& error) {
    std::fprintf(stderr, "gpuaes-bench: error: %s\n", error.what());
    return static_cast<int>(error.exit());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpuaes-bench: error: %s\n", error.what());
    return 1;
  }
}
