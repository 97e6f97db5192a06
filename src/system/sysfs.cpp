#include "system/sysfs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace gpuaes {

std::string first_line(const std::string& name) {
  std::string line;
  std::getline(std::ifstream(name) >> std::ws, line);
  return line;
}

// The speed has the form "32.0 GT/s PCIe", where a transfer is one bit. The driver's directory also has files
// that are not devices.
std::optional<double> fastest_gpu_link(const std::string& sysfs) {
  double fastest = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(sysfs + "/bus/pci/drivers/nvidia", error), end;
       !error && at != end; at.increment(error)) {
    const std::string device = at->path().string();
    const double speed = std::strtod(first_line(device + "/max_link_speed").c_str(), nullptr) * 1e9;
    const double width = std::strtod(first_line(device + "/max_link_width").c_str(), nullptr);
    fastest = std::max(fastest, speed * width / 8);
  }
  return fastest > 0 ? std::optional(fastest) : std::nullopt;
}

}  // namespace gpuaes
