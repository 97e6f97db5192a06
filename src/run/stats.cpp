#include "run/stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/texts.hpp"
#include "cli/progress_line.hpp"

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

std::string trimmed(const std::string& text) {
  return text.substr(text.find_first_not_of(' '));
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

std::string summary(const Stats& stats) {
  struct Kind {
    std::string name;
    std::size_t lanes = 0;
    std::uint64_t chunks = 0, bytes = 0;
  };
  std::vector<Kind> kinds;
  for (const LaneStats& lane : stats.lanes) {
    auto kind = std::ranges::find(kinds, lane.name, &Kind::name);
    if (kind == kinds.end()) kind = kinds.insert(kind, Kind{lane.name});
    ++kind->lanes;
    kind->chunks += lane.chunks;
    kind->bytes += lane.bytes;
  }
  const double rate = static_cast<double>(stats.bytes_in) / std::max(stats.seconds, 1e-6);
  std::string text = fmt::format(text::summary, stats.bytes_in, stats.bytes_out, stats.seconds,
                                 trimmed(describe_amount(rate)));
  for (const Kind& kind : kinds)
    text = fmt::format(text::summary_of_lanes, text, kind.name, kind.lanes, kind.chunks, kind.bytes);
  return text;
}

}  // namespace gpuaes
