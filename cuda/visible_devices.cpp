// The CUDA runtime starts every device that it sees when it opens the first one: 0.25 s for each H200 of a
// host. So it is shown only the devices that will be used.

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>

#include "lane/backends.hpp"

namespace gpuaes {
namespace {

constexpr const char* variable = "CUDA_VISIBLE_DEVICES";

// How the runtime's variable calls the devices that are there now, in the runtime's order; none where that
// cannot be known.
std::vector<std::string> visible_devices() {
  std::vector<std::string> names;
  if (const char* const given = getenv(variable)) {
    for (std::string_view rest = given; !rest.empty();) {
      names.emplace_back(rest.substr(0, rest.find(',')));
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

}  // namespace

bool cuda_may_open() {
  return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

void show_only_named_devices(std::vector<LaneSpec>& specs) {
  std::vector<unsigned> devices;
  for (const LaneSpec& spec : specs) {
    if (spec.backend != Backend::cuda) continue;
    if (!spec.device) return;
    devices.push_back(*spec.device);
  }
  std::ranges::sort(devices);
  devices.erase(std::ranges::unique(devices).begin(), devices.end());

  const std::vector<std::string> visible = visible_devices();
  if (devices.empty() || devices.size() >= visible.size() || devices.back() >= visible.size()) return;
  std::string shown;
  for (const unsigned device : devices) shown.append(shown.empty() ? "" : ",").append(visible[device]);
  setenv(variable, shown.c_str(), 1);
  for (LaneSpec& spec : specs)
    if (spec.backend == Backend::cuda)
      spec.shown_as = static_cast<unsigned>(std::ranges::find(devices, *spec.device) - devices.begin());
}

}  // namespace gpuaes
