// What Linux says about hardware in sysfs. Tests replace `sysfs`.
#pragma once

#include <optional>
#include <string>

namespace gpuaes {

// The first line of a file, without leading white space; empty if it cannot be read.
std::string first_line(const std::string& name);

// Bytes per second, in each direction, of the fastest link to a GPU with NVIDIA's driver, at its maximum
// speed and width. None if there is no such GPU, or if sysfs does not say.
std::optional<double> fastest_gpu_link(const std::string& sysfs = "/sys");

}  // namespace gpuaes
