// Finds the end of a stream to which bytes were appended: the stream's last segment is then the beginning of
// the first segment whose tag is wrong.
#pragma once

#include <cstddef>
#include <optional>

#include "cipher/job.hpp"

namespace gpuaes {

// Returns the size of the shorter segment, including its tag, with which segment `index` of a job to open
// begins, if its tag is correct. Takes time linear in the size of a segment.
std::optional<std::size_t> find_last_segment(const Job& job, std::size_t index);

}  // namespace gpuaes
