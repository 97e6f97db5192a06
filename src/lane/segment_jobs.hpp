// Seals and opens the segments of a job on a CPU, one at a time or, in MGM, several at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "cipher/modes/mgm_cpu.hpp"
#include "cipher/modes/segments.hpp"

namespace gpuaes {

// Calls `seal` for each segment.
template <class Seal>
void seal_segments(const Job& job, Seal seal) {
  for (std::size_t i = 0; i < count_segments(job); ++i) seal(segment_to_seal(job, i));
}

// Calls `open` for each segment, up to the first one for which it returns false because the tag is wrong.
// Returns the index of that segment, if any.
template <class Open>
std::optional<std::size_t> open_segments(const Job& job, Open open) {
  for (std::size_t i = 0; i < count_segments(job); ++i)
    if (!open(segment_to_open(job, i))) return i;
  return std::nullopt;
}

// Calls `take` for as many segments at a time as MgmCpu processes, each prepared by `cut`, until it returns
// the index of a bad one among them. Returns the index of that segment in the job, if any.
template <class Cut, class Take>
std::optional<std::size_t> take_segments(const Job& job, Cut cut, Take take) {
  using Each = decltype(cut(job, 0));
  std::array<Each, MgmCpu::max_segments> segments;
  const std::size_t count = count_segments(job);
  for (std::size_t first = 0; first < count; first += segments.size()) {
    const std::size_t some = std::min(count - first, segments.size());
    for (std::size_t i = 0; i < some; ++i) segments[i] = cut(job, first + i);
    const std::optional<std::size_t> bad = take(std::span<const Each>(segments).first(some));
    if (bad) return first + *bad;
  }
  return std::nullopt;
}

inline void seal_segments(const Job& job, const MgmCpu& mgm) {
  take_segments(job, segment_to_seal, [&](const auto& segments) {
    mgm.seal(job.aad, segments);
    return std::nullopt;
  });
}

inline std::optional<std::size_t> open_segments(const Job& job, const MgmCpu& mgm) {
  return take_segments(job, segment_to_open,
                       [&](const auto& segments) { return mgm.open(job.aad, segments); });
}

}  // namespace gpuaes
