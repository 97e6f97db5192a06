// main of the tests that need a GPU: without one it says so and ends with 77, which CTest counts as skipped.
// (Catch2 v2 cannot skip a test.)
#define CATCH_CONFIG_RUNNER
#include <cuda_runtime_api.h>

#include <cstdio>

#include "catch.hpp"

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
