#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "lane/lanes.hpp"

namespace gpuaes {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// The number behind `name` in a file of lines "name number".
std::uint64_t number_of(const std::string& file, const std::string& name, std::uint64_t otherwise) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    std::uint64_t number = 0;
    if (word == name && lines >> number) return number;
    lines.clear();
    lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return otherwise;
}

std::uint64_t number_in(const std::string& file, std::uint64_t otherwise) {
  std::uint64_t number = 0;
  return std::ifstream(file) >> number ? number : otherwise;
}

std::uint64_t difference(std::uint64_t whole, std::uint64_t used) {
  return whole > used ? whole - used : 0;
}

// What the control group in `directory` (v2) leaves: page cache goes where memory is needed.
std::uint64_t left_by_group(const std::string& directory) {
  const std::uint64_t most = number_in(directory + "/memory.max", unlimited);  // "max" is no number
  if (most == unlimited) return unlimited;
  const std::uint64_t used = number_in(directory + "/memory.current", 0);
  const std::uint64_t cache = number_of(directory + "/memory.stat", "inactive_file", 0) +
                              number_of(directory + "/memory.stat", "active_file", 0);
  return difference(most, difference(used, cache));
}

// The same in version 1, where a limit that is none is a huge number.
std::uint64_t left_by_old_group(const std::string& directory) {
  const std::uint64_t most = number_in(directory + "/memory.limit_in_bytes", unlimited);
  if (most == unlimited) return unlimited;
  const std::uint64_t used = number_in(directory + "/memory.usage_in_bytes", 0);
  const std::uint64_t cache = number_of(directory + "/memory.stat", "total_inactive_file", 0) +
                              number_of(directory + "/memory.stat", "total_active_file", 0);
  return difference(most, difference(used, cache));
}

// The least that our own group and those above it leave. Lines of /proc/self/cgroup: "0::/path" for version
// 2, and "7:memory:/path" for 1. In a container the path may not exist below the mount, but the root then is
// ours.
std::uint64_t left_by_groups() {
  std::uint64_t least = unlimited;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const bool old = line.find(":memory:/") != std::string::npos;
    if (!old && !line.starts_with("0::/")) continue;
    for (std::string path = line.substr(line.find('/'));; path.erase(path.rfind('/'))) {
      least = std::min(least, old ? left_by_old_group("/sys/fs/cgroup/memory" + path)
                                  : left_by_group("/sys/fs/cgroup" + path));
      if (path.find('/') == std::string::npos) break;
    }
  }
  return least;
}

std::uint64_t left_by_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return difference(limit.rlim_cur, number_in("/proc/self/statm", 0) * page);
}

}  // namespace

std::uint64_t available_memory() {
  const std::uint64_t kibibytes = number_of("/proc/meminfo", "MemAvailable:", unlimited / 1024);
  return std::min({kibibytes * 1024, left_by_groups(), left_by_limit()});
}

}  // namespace gpuaes
