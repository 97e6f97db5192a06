// Finds the end of a stream to which bytes were appended.
#pragma once

#include <cstddef>
#include <optional>

#include "cipher/job.hpp"

namespace gpuaes {

// If bytes were appended to a stream, its last segment is a prefix of segment `index` of a job to open.
// Returns the size of that prefix, with its tag, or nothing if none verifies. Computes the tags of all
// prefixes in one pass, which takes a few milliseconds.
std::optional<std::size_t> find_last_segment(const Job& job, std::size_t index);

}  // namespace gpuaes
