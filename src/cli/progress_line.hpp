// The text of the progress line for -P and SIGUSR1, in the style of pv:
//
//     1.25GiB 0:00:12 [ 410MiB/s] [ 380MiB/s] [====>     ] 40% ETA 0:00:18  cpu:2
//
// It shows the name of the input (if there are several inputs), the bytes of input processed, the time, the
// current and the average rate, a bar, the percentage, the time left, and the active lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuaes {

struct ProgressState {
  std::string name;                   // of the input, if there are several inputs
  std::uint64_t bytes = 0;            // of input processed
  std::optional<std::uint64_t> size;  // expected bytes of input, if known
  double seconds = 0;                 // since the start
  double rate = 0;                    // current bytes per second
  std::string lanes;                  // the active lanes
  bool ended = false;                 // no current rate and no ETA
};

// At most `columns` characters: as many parts as fit, in order of importance (bytes, percentage, name, time,
// rate, ETA, bar, lanes, average). The bar takes the remaining space. Past the expected size, the percentage
// is 100 and there is no ETA.
std::string progress_line(const ProgressState& state, std::size_t columns);

// All parts except the bar, for a log.
std::string progress_text(const ProgressState& state);

// Three digits and a unit of 1024, in at least 7 characters: "1.25GiB", " 380MiB", "  512 B".
std::string describe_amount(double bytes);

// "0:00:12", or "1:00:00:12" for a day or more.
std::string describe_time(double seconds);

// Groups equal names, in order of first appearance.
struct EqualNames {
  std::string name;
  std::vector<std::size_t> indices;
};
std::vector<EqualNames> group_by_name(std::span<const std::string> names);

// Groups lanes by name, in the form that -l takes: "cuda:0:8+cpu:8".
std::string describe_active_lanes(std::span<const std::string> names);

}  // namespace gpuaes
