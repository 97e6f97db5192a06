#include "run/work_queue.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>

#include "io/fd.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

std::uint64_t difference(std::uint64_t whole, std::uint64_t part) {
  return whole - std::min(whole, part);
}

// Some are reserved for the rest of the process.
std::uint64_t free_descriptors() {
  constexpr std::uint64_t for_others = 16;
  struct rlimit limit {};
  getrlimit(RLIMIT_NOFILE, &limit);
  Fd open_ones(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return difference(limit.rlim_cur, names_in(std::move(open_ones)).size() + for_others);
}

}  // namespace

std::size_t threads_for(const ThreadNeeds& needs, std::size_t max, std::uint64_t extra_bytes) {
  const std::uint64_t by_memory = difference(available_memory(), extra_bytes) / needs.bytes;
  return std::clamp<std::uint64_t>(std::min(free_descriptors() / needs.descriptors, by_memory), 1, max);
}

}  // namespace gpuaes
