#include "run/stats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/progress_line.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

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
  const std::string commitment = stats.commitment.empty() ? "null" : fmt::format(R"("{}")", stats.commitment);
  return fmt::format(R"({{"bytes_in": {}, "bytes_out": {}, "commitment": {}, "seconds": {:.6f}, )"
                     R"("cpu_seconds": {:.6f}, "lanes": [{}], "ring": {}, )"
                     R"("peak_rss_bytes": {}}})"
                     "\n",
                     stats.bytes_in, stats.bytes_out, commitment, stats.seconds, stats.cpu_seconds, lanes,
                     to_json(stats.ring, lanes_wait_seconds), peak_memory());
}

std::string summary(const Stats& stats) {
  const double rate = static_cast<double>(stats.bytes_in) / std::max(stats.seconds, 1e-6);
  std::string text = fmt::format("{} bytes in, {} bytes out, {:.3f} s, {}/s", stats.bytes_in, stats.bytes_out,
                                 stats.seconds, trim(describe_amount(rate)));
  std::vector<std::string> names;
  for (const LaneStats& lane : stats.lanes) names.push_back(lane.name);
  for (const auto& [name, indices] : group_by_name(names)) {
    std::uint64_t chunks = 0, bytes = 0;
    for (const std::size_t i : indices) {
      chunks += stats.lanes[i].chunks;
      bytes += stats.lanes[i].bytes;
    }
    text = fmt::format("{}; {}:{} did {}, {} bytes", text, name, indices.size(), counted(chunks, "chunk"),
                       bytes);
  }
  return text;
}

std::string summary(const LaneStats& lane) {
  return fmt::format("{}: {}, {} bytes; busy {:.3f} s, reading {:.3f} s, writing {:.3f} s, waiting {:.3f} s",
                     lane.name, counted(lane.chunks, "chunk"), lane.bytes, lane.busy_seconds,
                     lane.read_seconds, lane.write_seconds, lane.wait_seconds);
}

}  // namespace gpuaes
