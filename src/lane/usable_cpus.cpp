// How many CPUs this process may really use: a container with a quota of two on a machine of 64 must not
// start 64 threads.

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "lane/lanes.hpp"

namespace gpuaes {
namespace {

unsigned affinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(std::thread::hardware_concurrency(), 1u);  // more CPUs than the set has room for
}

unsigned whole_cpus(double quota, double period, unsigned unlimited) {
  if (quota <= 0 || period <= 0 || quota / period >= unlimited) return unlimited;
  return std::max(static_cast<unsigned>(quota / period + 0.5), 1u);
}

// cpu.max of cgroup v2: "max 100000" or "200000 100000".
unsigned quota_v2(const std::string& directory, unsigned unlimited) {
  std::ifstream file(directory + "/cpu.max");
  double quota = 0;
  double period = 0;
  return file >> quota >> period ? whole_cpus(quota, period, unlimited) : unlimited;
}

unsigned quota_v1(const std::string& directory, unsigned unlimited) {
  std::ifstream quota_file(directory + "/cpu.cfs_quota_us");
  std::ifstream period_file(directory + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  return quota_file >> quota && period_file >> period ? whole_cpus(quota, period, unlimited) : unlimited;
}

// The smallest quota from our own group up to the root. Lines of /proc/self/cgroup: "0::/path" for v2, and
// "4:cpu,cpuacct:/path" for v1. In a container the path may not exist below the mount, but the root then is
// ours.
unsigned quota(unsigned unlimited) {
  unsigned least = unlimited;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const bool v1 = controllers.find(",cpu,") != std::string::npos;
    if (!v1 && controllers != ",,") continue;
    for (std::string path = line.substr(second + 1);; path.erase(path.rfind('/'))) {
      least = v1 ? quota_v1("/sys/fs/cgroup/cpu" + path, least) : quota_v2("/sys/fs/cgroup" + path, least);
      if (path.find('/') == std::string::npos) break;
    }
  }
  return least;
}

}  // namespace

unsigned usable_cpus() {
  return quota(affinity());
}

}  // namespace gpuaes
