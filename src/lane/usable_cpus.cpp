// How many CPUs this process may really use: a container with a quota of two on a machine of 64 must not
// start 64 threads.

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

#include "lane/lanes.hpp"

namespace gpuaes {
namespace {

// All that is in a file, nothing where there is none. By bare calls: with streams for so many small files,
// looking took 0.2 ms of a start of 4.
std::string contents(const std::string& name) {
  std::string text;
  char piece[4096];
  const int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  for (ssize_t size; (size = read(fd, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(size));
  close(fd);
  return text;
}

// `numbers`: the quota and its period, in microseconds.
unsigned whole_cpus(const std::string& numbers, unsigned unlimited) {
  double quota = 0;
  double period = 0;
  if (std::sscanf(numbers.c_str(), "%lf %lf", &quota, &period) != 2) return unlimited;
  if (quota <= 0 || period <= 0 || quota / period >= unlimited) return unlimited;
  return std::max(static_cast<unsigned>(quota / period + 0.5), 1u);
}

// cpu.max of cgroup v2: "max 100000" or "200000 100000".
unsigned quota_v2(const std::string& directory, unsigned unlimited) {
  return whole_cpus(contents(directory + "/cpu.max"), unlimited);
}

// "-1" or "200000", and "100000".
unsigned quota_v1(const std::string& directory, unsigned unlimited) {
  return whole_cpus(contents(directory + "/cpu.cfs_quota_us") + contents(directory + "/cpu.cfs_period_us"),
                    unlimited);
}

// The smallest quota from our own group up to the root. Lines of /proc/self/cgroup: "0::/path" for v2, and
// "4:cpu,cpuacct:/path" for v1. In a container the path may not exist below the mount, but the root then is
// ours.
unsigned quota(unsigned unlimited) {
  unsigned least = unlimited;
  const std::string groups = contents("/proc/self/cgroup");
  std::size_t begin = 0;
  for (std::size_t end; (end = groups.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = groups.substr(begin, end - begin);
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const bool v1 = controllers.find(",cpu,") != std::string::npos;
    if (!v1 && controllers != ",,") continue;
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    for (;; path.erase(path.rfind('/'))) {
      least = v1 ? quota_v1("/sys/fs/cgroup/cpu" + path, least) : quota_v2("/sys/fs/cgroup" + path, least);
      if (path.find('/') == std::string::npos) break;
    }
  }
  return least;
}

}  // namespace

unsigned bound_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(std::thread::hardware_concurrency(), 1u);  // more CPUs than the set has room for
}

unsigned usable_cpus() {
  return quota(bound_cpus());
}

}  // namespace gpuaes
