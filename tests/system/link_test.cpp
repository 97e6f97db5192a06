// The link to a GPU, in a made-up sysfs.
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "support/catch.hpp"
#include "support/files.hpp"
#include "system/numa.hpp"

namespace gpuaes {
namespace {

class Devices {
 public:
  void add(const std::string& address, const std::string& speed, const std::string& width) const {
    const std::string device = directory_ / ("bus/pci/drivers/nvidia/" + address);
    std::filesystem::create_directories(device);
    std::ofstream(device + "/max_link_speed") << speed << "\n";
    std::ofstream(device + "/max_link_width") << width << "\n";
  }
  void add_node(const std::string& address, const std::string& status) const {
    const std::string gpu = directory_ / ("gpus/" + address);
    std::filesystem::create_directories(gpu);
    std::ofstream(gpu + "/numa_status") << status;
  }
  std::optional<double> link() const {
    return fastest_gpu_link(directory_.path().string(), directory_ / "gpus");
  }

 private:
  TempDir directory_;
};

}  // namespace

TEST_CASE("the rate of a link is its speed times its width, for the fastest GPU of the driver") {
  const Devices devices;
  CHECK_FALSE(devices.link().has_value());  // no driver
  devices.add("module", "", "");            // not a device
  CHECK_FALSE(devices.link().has_value());
  devices.add("0000:01:00.0", "8.0 GT/s PCIe", "4");
  CHECK(devices.link() == 4e9);
  devices.add("0000:02:00.0", "32.0 GT/s PCIe", "16");
  devices.add("0000:03:00.0", "16.0 GT/s PCIe", "16");
  CHECK(devices.link() == 64e9);
}

TEST_CASE("a GPU whose memory is a node has NVLink-C2C") {
  const Devices devices;
  for (const char* const status : {"", "Node:      -1\nStatus:    disabled\n"}) {
    devices.add_node("0009:01:00.0", status);
    CHECK_FALSE(devices.link().has_value());
  }
  devices.add("0009:01:00.0", "32.0 GT/s PCIe", "1");
  devices.add_node("0009:01:00.0", "Node:      8\nStatus:    online\n");
  CHECK(devices.link() == 450e9);
}

TEST_CASE("a GPU whose link is not described has no rate") {
  const Devices devices;
  devices.add("0000:01:00.0", "Unknown", "255");
  CHECK_FALSE(devices.link().has_value());
}

}  // namespace gpuaes
