// The link to a GPU, in a made-up sysfs.
#include "system/sysfs.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "support/catch.hpp"
#include "support/files.hpp"

namespace gpuaes {
namespace {

class Devices {
 public:
  void add(const std::string& address, const std::string& vendor, const std::string& kind,
           const std::string& speed, const std::string& width) const {
    const std::string device = directory_ / ("bus/pci/devices/" + address);
    std::filesystem::create_directories(device);
    for (const auto& [name, text] :
         {std::pair("vendor", vendor), {"class", kind}, {"max_link_speed", speed}, {"max_link_width", width}})
      std::ofstream(device + "/" + name) << text << "\n";
  }
  std::optional<double> link() const { return fastest_gpu_link(directory_.path().string()); }

 private:
  TempDir directory_;
};

}  // namespace

TEST_CASE("the rate of a link is its speed times its width, for the fastest NVIDIA GPU") {
  const Devices devices;
  CHECK_FALSE(devices.link().has_value());                                    // not even a bus
  devices.add("0000:00:01.0", "0x8086", "0x030000", "32.0 GT/s PCIe", "16");  // a GPU of another vendor
  devices.add("0000:00:02.0", "0x10de", "0x020700", "64.0 GT/s PCIe", "16");  // a network device of NVIDIA
  CHECK_FALSE(devices.link().has_value());
  devices.add("0000:01:00.0", "0x10de", "0x030000", "8.0 GT/s PCIe", "4");
  CHECK(devices.link() == 4e9);
  devices.add("0000:02:00.0", "0x10de", "0x030200", "32.0 GT/s PCIe", "16");
  CHECK(devices.link() == 64e9);
}

TEST_CASE("a GPU whose link is not described has no rate") {
  const Devices devices;
  devices.add("0000:01:00.0", "0x10de", "0x030000", "Unknown", "255");
  CHECK_FALSE(devices.link().has_value());
}

}  // namespace gpuaes
