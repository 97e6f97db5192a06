// gpuaes-bench: figures that the filter itself cannot show.

#include <cstdio>
#include <exception>
#include <string_view>

#include "bench/copy.hpp"
#ifdef GPUAES_WITH_CUDA
#include "kernel_bench.hpp"
#endif

namespace {

// To add a measurement: its function and its line here.
int run(std::string_view command) {
  if (command == "copy") {
    gpuaes::run_copy();
  } else if (command == "kernels") {
#ifdef GPUAES_WITH_CUDA
    gpuaes::cuda::run_kernel_bench();
#else
    std::puts("kernels: skipped: built without CUDA");
#endif
  } else {
    std::fputs("usage: gpuaes-bench copy < input > output | gpuaes-bench kernels\n", stderr);
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc == 2 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpuaes-bench: error: %s\n", error.what());
    return 1;
  }
}
