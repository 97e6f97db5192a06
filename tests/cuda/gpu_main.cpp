// main() of tests that need a GPU. Without one, it prints a note and exits with 77, which CTest reports as
// skipped.
#include <cuda_runtime_api.h>

#include <cstdio>

#include "support/catch.hpp"

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
  return gpuaes::run_tests(argc, argv);
}
