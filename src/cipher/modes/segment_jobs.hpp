// Seals and opens the segments of a job on a CPU, one at a time.
#pragma once

#include <cstddef>
#include <optional>

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

}  // namespace gpuaes
