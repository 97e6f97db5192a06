#include "stats.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

namespace gpuaes {

std::string to_json(const Stats& stats) {
  std::string lanes;
  for (const LaneStats& lane : stats.lanes)
    lanes += fmt::format(R"({}{{"name": "{}", "chunks": {}, "bytes": {}, "busy_seconds": {:.6f}}})",
                         lanes.empty() ? "" : ", ", lane.name, lane.chunks, lane.bytes, lane.busy_seconds);
  struct rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return fmt::format(
      R"({{"bytes_in": {}, "bytes_out": {}, "seconds": {:.6f}, "lanes": [{}], "peak_rss_bytes": {}}})"
      "\n",
      stats.bytes_in, stats.bytes_out, stats.seconds, lanes, static_cast<long long>(usage.ru_maxrss) * 1024);
}

}  // namespace gpuaes
