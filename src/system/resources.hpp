// The CPUs and the memory that this process may use or has used, within its affinity, its limits and its
// control groups of version 2 (cgroups(7)). A container with a quota of two CPUs on a machine with 64 must
// not start 64 threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gpuaes {

// The number of CPUs that this process may use at the same time. bound_cpus() respects its affinity, and
// usable_cpus() also the CPU quotas of its control groups, which take longer to read.
unsigned bound_cpus();
unsigned usable_cpus();

// The number of bytes that this process may still allocate: what the system can provide without swapping,
// within the limits of its control groups, RLIMIT_AS and RLIMIT_DATA.
std::uint64_t available_memory();

// The number of bytes that these limits still allow, including swap. A process that uses more may be killed.
std::uint64_t allowed_memory();

// If RLIMIT_AS or RLIMIT_DATA limits this process, makes threads that are created later take less memory.
void fit_threads_to_limits();

// The size of the last-level cache, in bytes; 0 if unknown. sysconf() reports it only on x86 CPUs; elsewhere,
// cache_bytes() reads sysfs.
std::size_t cache_bytes();
std::size_t cache_bytes_in(const std::string& sysfs);

// The CPU time that the threads of this process have used, in seconds.
double cpu_seconds();

// The peak resident set size of this process, in bytes; 0 if unknown.
std::uint64_t peak_memory();

}  // namespace gpuaes
