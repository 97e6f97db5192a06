// The benchmarks of CUDA devices in a program built without CUDA: they check their arguments, then refuse.

#include "base/error.hpp"
#include "bench/benches.hpp"

namespace gpuaes {
namespace {

template <class... Request>
[[noreturn]] void refuse(const Request&...) {
  throw LaneError("this program was built without CUDA");
}

}  // namespace

void run_device_bench(const Arguments& arguments) {
  refuse(parse_copy_sizes(arguments));
}
void run_transfer_bench(const Arguments& arguments) {
  refuse(parse_transfer_request(arguments));
}
void run_limit_bench(const Arguments&) {
  refuse();
}
void run_kernel_bench(const Arguments& arguments) {
  refuse(parse_kernel_request(arguments));
}
void run_key_bench(const Arguments& arguments) {
  refuse(parse_key_request(arguments));
}

}  // namespace gpuaes
