#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "lane/backends.hpp"
#include "system/control_groups.hpp"

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

// How a version of control groups calls what we ask for.
struct GroupFiles {
  const char *limit, *usage, *inactive_cache, *active_cache;
};
constexpr GroupFiles files_v1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file",
                              "total_active_file"};
constexpr GroupFiles files_v2{"/memory.max", "/memory.current", "inactive_file", "active_file"};

// What a control group leaves: page cache goes where memory is needed. A limit that is none is "max", which
// is no number, or in version 1 a huge one.
std::uint64_t left_by(const ControlGroup& group) {
  const GroupFiles& files = group.v1 ? files_v1 : files_v2;
  const std::uint64_t most = number_in(group.directory + files.limit, unlimited);
  if (most == unlimited) return unlimited;
  const std::uint64_t used = number_in(group.directory + files.usage, 0);
  const std::string stat = group.directory + "/memory.stat";
  const std::uint64_t cache =
      number_of(stat, files.inactive_cache, 0) + number_of(stat, files.active_cache, 0);
  return difference(most, difference(used, cache));
}

std::uint64_t left_by_groups() {
  std::uint64_t least = unlimited;
  for (const ControlGroup& group : control_groups("memory")) least = std::min(least, left_by(group));
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
