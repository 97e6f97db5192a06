// A job to seal or to open, segment after segment, for lanes that do it on a CPU.
#pragma once

#include <cstddef>
#include <optional>

#include "cipher/modes/segments.hpp"

namespace gpuaes {

// `seal` gets each segment.
template <class Seal>
void seal_segments(const Job& job, Seal seal) {
  for (std::size_t i = 0; i < count_segments(job); ++i) seal(segment_to_seal(job, i));
}

// `open` gets each segment and says whether its tag is right. The index of the first one whose tag is wrong,
// if one is: those behind it are not looked at.
template <class Open>
std::optional<std::size_t> open_segments(const Job& job, Open open) {
  for (std::size_t i = 0; i < count_segments(job); ++i)
    if (!open(segment_to_open(job, i))) return i;
  return std::nullopt;
}

}  // namespace gpuaes
