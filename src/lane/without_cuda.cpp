// Replaces the CUDA lanes in builds without CUDA: no device exists, and no profiler.
#include "lane/backends.hpp"
#include "system/profiler_range.hpp"

namespace gpuaes {

std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec>, const LaneSetup&) {
  throw LaneError("this program was built without CUDA", Advice::use_cpu_lanes);
}

bool cuda_may_open() {
  return false;
}

std::optional<unsigned> known_cuda_devices() {
  return {};
}

void show_only_devices(std::initializer_list<std::span<LaneSpec>>) {}

std::size_t count_cuda_devices() {
  return 0;
}

std::vector<std::string> describe_cuda_devices() {
  return {};
}

std::string reason_for_no_cuda_device() {
  return {};
}

void push_profiler_range(const char*) noexcept {}

void pop_profiler_range() noexcept {}

}  // namespace gpuaes
