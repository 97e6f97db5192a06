// The benchmarks of CUDA devices in a program built without CUDA: they check their arguments, then refuse.

#include "base/error.hpp"
#include "bench/benches.hpp"
#include "bench/cuda_requests.hpp"

namespace gpuaes {
namespace {

[[noreturn]] void refuse() {
  throw LaneError("this program was built without CUDA");
}

}  // namespace

void run_device_bench(const Arguments& arguments) {
  parse_copy_sizes(arguments);
  refuse();
}

void run_transfer_bench(const Arguments& arguments) {
  parse_transfer_request(arguments);
  refuse();
}

void run_limit_bench(const Arguments&) {
  refuse();
}

void run_kernel_bench(const Arguments& arguments) {
  parse_kernel_request(arguments);
  refuse();
}

void run_key_bench(const Arguments& arguments) {
  parse_key_request(arguments);
  refuse();
}

void run_sweep_bench(const Arguments& arguments) {
  parse_sweep_request(arguments);
  refuse();
}

}  // namespace gpuaes
