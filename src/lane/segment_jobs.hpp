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

// Calls `process` for batches of segments made by `prepare`, as many as MgmCpu takes at a time, until it
// returns the index of a bad segment in its batch. Returns the index of that segment in the job, if any.
template <class Prepare, class Process>
std::optional<std::size_t> process_in_batches(const Job& job, Prepare prepare, Process process) {
  using Each = decltype(prepare(job, 0));
  std::array<Each, MgmCpu::max_segments> segments;
  const std::size_t count = count_segments(job);
  for (std::size_t first = 0; first < count; first += segments.size()) {
    const std::size_t batch = std::min(count - first, segments.size());
    for (std::size_t i = 0; i < batch; ++i) segments[i] = prepare(job, first + i);
    const std::optional<std::size_t> bad = process(std::span<const Each>(segments).first(batch));
    if (bad) return first + *bad;
  }
  return std::nullopt;
}

inline void seal_segments(const Job& job, const MgmCpu& mgm) {
  process_in_batches(job, segment_to_seal, [&](const auto& segments) {
    mgm.seal(job.aad, segments);
    return std::nullopt;
  });
}

inline std::optional<std::size_t> open_segments(const Job& job, const MgmCpu& mgm) {
  return process_in_batches(job, segment_to_open,
                            [&](const auto& segments) { return mgm.open(job.aad, segments); });
}

}  // namespace gpuaes
