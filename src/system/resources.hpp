// The CPUs and the memory that this process may use: what the system has, and no more than its affinity, its
// limits and its control groups (cgroups(7)) allow. A container with a quota of two CPUs on a machine of 64
// must not start 64 threads.
#pragma once

#include <cstdint>
#include <string>

namespace gpuaes {

// CPUs that this process may use at once. bound_cpus(): those its affinity allows. usable_cpus(): no more of
// them than the CPU quota of its control groups; looking for quotas takes 0.1 ms.
unsigned bound_cpus();
unsigned usable_cpus();

// Bytes of memory that this process may still take without harm: what the system can give without swapping,
// and no more than its control groups and limits (RLIMIT_AS) leave it.
std::uint64_t available_memory();

// All that is in a file; empty if it cannot be read.
std::string contents_of(const std::string& name);

}  // namespace gpuaes
