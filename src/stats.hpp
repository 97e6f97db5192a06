// The figures of a run as JSON, for --stats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/pipeline.hpp"

namespace gpuaes {

struct Stats {
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  double seconds = 0;  // from the start of the program's work to its end
  std::vector<LaneStats> lanes;
};

// {"bytes_in", "bytes_out", "seconds", "lanes": [{"name", "chunks", "bytes", "busy_seconds"}],
// "peak_rss_bytes"} and a line feed. The peak is this process's up to now.
std::string to_json(const Stats& stats);

}  // namespace gpuaes
