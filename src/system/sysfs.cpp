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

// The speed has the form "32.0 GT/s PCIe", where a transfer is one bit. A class is a VGA or 3D controller if
// it begins with 0x03.
std::optional<double> fastest_gpu_link(const std::string& sysfs) {
  double fastest = 0;
  std::error_code unreadable;
  for (const auto& device : std::filesystem::directory_iterator(sysfs + "/bus/pci/devices", unreadable)) {
    const std::string directory = device.path().string();
    if (first_line(directory + "/vendor") != "0x10de" ||
        !first_line(directory + "/class").starts_with("0x03"))
      continue;
    const double speed = std::strtod(first_line(directory + "/max_link_speed").c_str(), nullptr) * 1e9;
    const double width = std::strtod(first_line(directory + "/max_link_width").c_str(), nullptr);
    fastest = std::max(fastest, speed * width / 8);
  }
  return fastest > 0 ? std::optional(fastest) : std::nullopt;
}

}  // namespace gpuaes
