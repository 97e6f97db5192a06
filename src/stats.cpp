#include "stats.hpp"

#include <fmt/format.h>

#include <fstream>

namespace gpuaes {
namespace {

// getrusage() would count the memory of whoever started us: its ru_maxrss lives through exec().
std::uint64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

std::string to_json(const Stats& stats) {
  std::string lanes;
  for (const LaneStats& lane : stats.lanes)
    lanes += fmt::format(R"({}{{"name": "{}", "chunks": {}, "bytes": {}, "busy_seconds": {:.6f}}})",
                         lanes.empty() ? "" : ", ", lane.name, lane.chunks, lane.bytes, lane.busy_seconds);
  return fmt::format(
      R"({{"bytes_in": {}, "bytes_out": {}, "seconds": {:.6f}, "lanes": [{}], "peak_rss_bytes": {}}})"
      "\n",
      stats.bytes_in, stats.bytes_out, stats.seconds, lanes, peak_rss_bytes());
}

}  // namespace gpuaes
