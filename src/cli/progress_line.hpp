// What -P and SIGUSR1 tell, as text, in the manner of pv:
//
//     1.25GiB 0:00:12 [ 410MiB/s] [ 380MiB/s] [====>     ] 40% ETA 0:00:18  cpu:2
//
// Bytes of input done, time, the rate of late, the average rate, how much of the whole that is, when it will
// be done, and the lanes at work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuaes {

struct ProgressState {
  std::uint64_t bytes = 0;            // of input, done
  std::optional<std::uint64_t> size;  // bytes that there will be, as far as one knows
  double seconds = 0;                 // since the start
  double rate = 0;                    // bytes per second, of late
  std::string lanes;                  // at work
  bool ended = false;                 // nothing more will come: no rate of late, no ETA
};

// In at most `columns` characters: as many parts as there is room for, what tells most first (bytes,
// percentage, time, rate, ETA, bar, lanes, average), and the bar takes what is left. The percentage stops at
// 100, and beyond the expected size there is no ETA.
std::string progress_line(const ProgressState& state, std::size_t columns);

// All of it but the bar, for a line of a log.
std::string progress_text(const ProgressState& state);

// Three digits and a unit of 1024, in at least 7 characters: "1.25GiB", " 380MiB", "  512 B".
std::string describe_amount(double bytes);

// "0:00:12", and from a day on "1:00:00:12".
std::string describe_time(double seconds);

// Which of `names` are equal, in the order in which they first appear.
struct EqualNames {
  std::string name;
  std::vector<std::size_t> indices;
};
std::vector<EqualNames> group_by_name(std::span<const std::string> names);

// Lanes of one name as one, in the form that -l takes: "cuda:0:8+cpu:8".
std::string describe_lanes_at_work(std::span<const std::string> names);

}  // namespace gpuaes
