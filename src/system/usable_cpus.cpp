// How many CPUs this process may really use: a container with a quota of two on a machine of 64 must not
// start 64 threads.

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

#include "lane/backends.hpp"
#include "system/control_groups.hpp"

namespace gpuaes {
namespace {

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
  return whole_cpus(contents_of(directory + "/cpu.max"), unlimited);
}

// "-1" or "200000", and "100000".
unsigned quota_v1(const std::string& directory, unsigned unlimited) {
  return whole_cpus(
      contents_of(directory + "/cpu.cfs_quota_us") + contents_of(directory + "/cpu.cfs_period_us"),
      unlimited);
}

// The smallest quota of the groups that hold us.
unsigned quota(unsigned unlimited) {
  unsigned least = unlimited;
  for (const ControlGroup& group : control_groups("cpu"))
    least = group.v1 ? quota_v1(group.directory, least) : quota_v2(group.directory, least);
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
