// The figures of a run, as JSON for --stats and as the last lines of -v and -vv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/pipeline.hpp"

namespace gpuaes {

struct RingStats {
  std::size_t chunks = 0;
  std::size_t chunk_bytes = 0;  // of plaintext
  double reader_wait_seconds = 0;
  double writer_wait_seconds = 0;
};

struct Stats {
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::string commitment;  // in hexadecimal; may be empty
  double seconds = 0;      // elapsed
  double cpu_seconds = 0;  // of all threads
  std::vector<LaneStats> lanes;
  RingStats ring;
};

// {"bytes_in", "bytes_out", "commitment", "seconds", "cpu_seconds", "lanes": [{"name", "chunks", "bytes",
// "busy_seconds", "read_seconds", "write_seconds", "wait_seconds"}], "ring": {"chunks", "chunk_bytes",
// "reader_wait_seconds", "lanes_wait_seconds", "writer_wait_seconds"}, "peak_rss_bytes"} and a newline.
std::string to_json(const Stats& stats);

// One human-readable line, without wait times. Combines lanes with the same name.
std::string summary(const Stats& stats);

// The same for one lane, with its times.
std::string summary(const LaneStats& lane);

}  // namespace gpuaes
