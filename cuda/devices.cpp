// Finds CUDA devices and restricts which of them the CUDA runtime sees.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lane/backends.hpp"
#include "runtime.hpp"

namespace gpuaes {
namespace {

constexpr const char* variable = "CUDA_VISIBLE_DEVICES";

// The runtime ignores an entry that is not a device's name, and all that follow it.
bool is_device_name(std::string_view name) {
  const bool is_number = !name.empty() && name.find_first_not_of("0123456789") == name.npos;
  return is_number || name.starts_with("GPU-") || name.starts_with("MIG-");
}

// The names of the visible devices in the form that CUDA_VISIBLE_DEVICES takes, in the runtime's order;
// nothing if they cannot be determined.
std::optional<std::vector<std::string>> visible_devices() {
  std::vector<std::string> names;
  if (const char* const given = getenv(variable)) {
    for (std::string_view rest = given; !rest.empty();) {
      names.emplace_back(rest.substr(0, rest.find(',')));
      if (!is_device_name(names.back())) {
        names.pop_back();
        return names;
      }
      rest.remove_prefix(std::min(rest.size(), names.back().size() + 1));
    }
    return names;
  }
  std::error_code error;
  std::filesystem::directory_iterator gpus("/proc/driver/nvidia/gpus", error);
  if (error) return {};
  for (std::ptrdiff_t count = std::distance(begin(gpus), end(gpus)), i = 0; i < count; ++i)
    names.push_back(std::to_string(i));
  return names;
}

// Set as soon as the runtime has read the variable. The runtime initializes every device that it sees when it
// opens the first one, which takes noticeable time for each.
std::atomic<bool> runtime_used = false;

cudaError_t get_device_count(int& count) {
  runtime_used = true;
  return cudaGetDeviceCount(&count);
}

// Why no device can be used; empty if one can.
std::string reason_for_no_device() {
  int count = 0, driver = 0;
  const cudaError_t error = get_device_count(count);
  if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess)
    return driver == 0 ? "no NVIDIA driver is installed"
                       : fmt::format(
                             "the NVIDIA driver is too old: it supports CUDA {}.{}, but this program "
                             "needs CUDA {}",
                             driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000);
  if (error != cudaSuccess) return fmt::format("no CUDA device is available: {}", cudaGetErrorString(error));
  return count > 0 ? "" : "no CUDA device is available: no device was found";
}

}  // namespace

bool cuda_may_open() {
  // Of the driver for servers and desktops, of WSL, and of Jetson, old and new.
  constexpr std::array nodes{"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu", "/dev/nvgpu"};
  return std::ranges::any_of(nodes, [](const char* node) { return access(node, F_OK) == 0; });
}

std::size_t require_cuda_devices(const Hint& hint) {
  if (const std::string reason = reason_for_no_device(); !reason.empty()) throw LaneError(reason, hint);
  return count_cuda_devices();
}

std::size_t count_cuda_devices() {
  int count = 0;
  return get_device_count(count) == cudaSuccess ? static_cast<std::size_t>(count) : 0;
}

std::vector<std::string> describe_cuda_devices() {
  std::vector<std::string> lines;
  if (!cuda_may_open()) return lines;
  const std::size_t count = count_cuda_devices();
  for (std::size_t device = 0; device < count; ++device) {
    cudaDeviceProp properties;
    cuda::check(cudaGetDeviceProperties(&properties, static_cast<int>(device)));
    lines.push_back(
        fmt::format("cuda:{}\t{}, {} GiB", device, properties.name, properties.totalGlobalMem >> 30));
  }
  return lines;
}

std::string reason_for_no_cuda_device() {
  return cuda_may_open() ? reason_for_no_device() : "";
}

std::optional<unsigned> known_cuda_devices() {
  if (runtime_used) return static_cast<unsigned>(count_cuda_devices());
  const std::optional<std::vector<std::string>> visible = visible_devices();
  if (!visible) return {};
  return static_cast<unsigned>(visible->size());
}

void show_only_devices(std::initializer_list<std::span<LaneSpec>> lists) {
  std::vector<LaneSpec*> specs;
  for (const std::span<LaneSpec> list : lists)
    for (LaneSpec& spec : list)
      if (spec.backend == Backend::cuda) specs.push_back(&spec);
  const auto is_planned = [](const LaneSpec* spec) { return spec->device && !spec->shown_as; };
  if (runtime_used || specs.empty() || !std::ranges::all_of(specs, is_planned)) return;
  const std::optional<std::vector<std::string>> visible = visible_devices();
  if (!visible) return;

  const auto device_of = [](const LaneSpec* spec) { return *spec->device; };
  std::set<unsigned> devices;
  std::ranges::transform(specs, std::inserter(devices, devices.end()), device_of);
  if (*devices.rbegin() >= visible->size()) return;
  std::vector<std::string> names;
  for (const unsigned device : devices) names.push_back((*visible)[device]);
  if (names.size() < visible->size()) setenv(variable, fmt::format("{}", fmt::join(names, ",")).c_str(), 1);
  for (LaneSpec* spec : specs)
    spec->shown_as = static_cast<unsigned>(std::distance(devices.begin(), devices.find(*spec->device)));
}

}  // namespace gpuaes
