#include "system/resources.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/text.hpp"

namespace gpuaes {
namespace {

// The contents of a file; empty if it cannot be read. Uses system calls because streams would noticeably slow
// down startup.
std::string contents_of(const std::string& name) {
  std::string text;
  char piece[4096];
  const int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  for (ssize_t size; (size = read(fd, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(size));
  close(fd);
  return text;
}

// Control groups --------------------------------------------------------------------------------

// The folders of the control groups of this process, from its own up to the root; they may not exist. In a
// container, a path may not exist below the mount, but the root is then the container's own. Of the lines in
// /proc/self/cgroup, "0::/path" is that of version 2.
std::vector<std::string> control_groups() {
  constexpr std::string_view prefix = "0::";
  std::vector<std::string> found;
  const std::string groups = contents_of("/proc/self/cgroup");
  for (std::string_view rest = groups; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (!line.starts_with(prefix)) continue;
    std::string path(line.substr(prefix.size()));
    if (path == "/") path.clear();
    for (;; path.erase(path.rfind('/'))) {
      found.push_back("/sys/fs/cgroup" + path);
      if (path.find('/') == path.npos) break;
    }
  }
  return found;
}

// CPUs ------------------------------------------------------------------------------------------

// `numbers`: the quota and its period, in microseconds: "max 100000" or "200000 100000".
unsigned whole_cpus(const std::string& numbers, unsigned without_quota) {
  double quota = 0;
  double period = 0;
  if (std::sscanf(numbers.c_str(), "%lf %lf", &quota, &period) != 2) return without_quota;
  if (quota <= 0 || period <= 0 || quota / period >= without_quota) return without_quota;
  return std::max(static_cast<unsigned>(quota / period + 0.5), 1u);
}

// Memory ----------------------------------------------------------------------------------------

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// The number after `name` in a file of lines "name number", or `otherwise`.
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

// The page cache does not count as used, because the kernel frees it when memory is needed. Without a limit,
// there is "max", which is not a number.
std::uint64_t left_by(const std::string& group) {
  const std::uint64_t limit = number_in(group + "/memory.max", unlimited);
  if (limit == unlimited) return unlimited;
  const std::uint64_t used = number_in(group + "/memory.current", 0);
  const std::string stat = group + "/memory.stat";
  const std::uint64_t cache = number_of(stat, "inactive_file", 0) + number_of(stat, "active_file", 0);
  return difference(limit, difference(used, cache));
}

std::uint64_t swap_left_by(const std::string& group, std::uint64_t free_swap) {
  const std::uint64_t limit = number_in(group + "/memory.swap.max", unlimited);
  return std::min(free_swap, difference(limit, number_in(group + "/memory.swap.current", 0)));
}

// `free_swap`: the swap to use, in bytes.
std::uint64_t left_by_groups(std::uint64_t free_swap) {
  std::uint64_t minimum = unlimited;
  for (const std::string& group : control_groups())
    if (const std::uint64_t left = left_by(group); left != unlimited)
      minimum = std::min(minimum, left + swap_left_by(group, free_swap));
  return minimum;
}

using Resource = decltype(RLIMIT_AS);

rlim_t limit_of(Resource resource) {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};  // if a sandbox denies the call
  getrlimit(resource, &limit);
  return limit.rlim_cur;
}

bool is_limited(Resource resource) {
  return limit_of(resource) != RLIM_INFINITY;
}

std::uint64_t left_by_limit(Resource resource, const char* used) {
  if (!is_limited(resource)) return unlimited;
  return difference(limit_of(resource), number_of("/proc/self/status", used, 0) * 1024);
}

std::uint64_t left_by_limits() {
  return std::min(left_by_limit(RLIMIT_AS, "VmSize:"), left_by_limit(RLIMIT_DATA, "VmData:"));
}

}  // namespace

unsigned bound_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(std::thread::hardware_concurrency(), 1u);  // more CPUs than fit in the set
}

unsigned usable_cpus() {
  unsigned cpus = bound_cpus();
  for (const std::string& group : control_groups()) cpus = whole_cpus(contents_of(group + "/cpu.max"), cpus);
  return cpus;
}

std::uint64_t available_memory() {
  const std::uint64_t kibibytes = number_of("/proc/meminfo", "MemAvailable:", unlimited / 1024);
  return std::min({kibibytes * 1024, left_by_groups(0), left_by_limits()});
}

std::uint64_t allowed_memory() {
  return std::min(left_by_groups(number_of("/proc/meminfo", "SwapFree:", 0) * 1024), left_by_limits());
}

// By default, a thread takes 8 MiB for its stack and 64 MiB, for a moment 128 MiB, for its arena.
void fit_threads_to_limits() {
  constexpr std::size_t stack_bytes = 1 << 20;
  if (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA)) return;
  mallopt(M_ARENA_MAX, 1);
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  std::size_t size = 0;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_setstacksize(&attributes, std::min(size, stack_bytes));
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

std::size_t cache_bytes() {
  const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return size > 0 ? static_cast<std::size_t>(size) : cache_bytes_in("/sys");
}

// index0 and index1 are the level 1 caches. Sizes have the form "32768K".
std::size_t cache_bytes_in(const std::string& sysfs) {
  for (const int index : {3, 2}) {
    const std::string size =
        contents_of(fmt::format("{}/devices/system/cpu/cpu0/cache/index{}/size", sysfs, index));
    const std::string_view digits = std::string_view(size).substr(0, size.find('K'));
    if (const auto kib = parse_number<std::size_t>(digits)) return *kib << 10;
  }
  return 0;
}

double cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

// Not getrusage(): its ru_maxrss survives exec(), so it includes the program that started this one.
std::uint64_t peak_memory() {
  return number_of("/proc/self/status", "VmHWM:", 0) * 1024;
}

}  // namespace gpuaes
