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

std::string to_json(const LaneStats& lane) {
  return fmt::format(
      R"({{"name": "{}", "chunks": {}, "bytes": {}, "busy_seconds": {:.6f}, "read_seconds": {:.6f}, )"
      R"("write_seconds": {:.6f}, "wait_seconds": {:.6f}}})",
      lane.name, lane.chunks, lane.bytes, lane.busy_seconds, lane.read_seconds, lane.write_seconds,
      lane.wait_seconds);
}

std::string to_json(const RingStats& ring, double lanes_wait_seconds) {
  return fmt::format(
      R"({{"chunks": {}, "chunk_bytes": {}, "reader_wait_seconds": {:.6f}, "lanes_wait_seconds": {:.6f}, )"
      R"("writer_wait_seconds": {:.6f}}})",
      ring.chunks, ring.chunk_bytes, ring.reader_wait_seconds, lanes_wait_seconds, ring.writer_wait_seconds);
}

}  // namespace

std::string to_json(const Stats& stats) {
  std::string lanes;
  double lanes_wait_seconds = 0;
  for (const LaneStats& lane : stats.lanes) {
    lanes.append(lanes.empty() ? "" : ", ").append(to_json(lane));
    lanes_wait_seconds += lane.wait_seconds;
  }
  return fmt::format(R"({{"bytes_in": {}, "bytes_out": {}, "seconds": {:.6f}, "lanes": [{}], "ring": {}, )"
                     R"("peak_rss_bytes": {}}})"
                     "\n",
                     stats.bytes_in, stats.bytes_out, stats.seconds, lanes,
                     to_json(stats.ring, lanes_wait_seconds), peak_rss_bytes());
}

}  // namespace gpuaes
