// The copy-only filter: what a pipe costs when nothing is done to the bytes. The filter's own ends, so with
// the same pipe sizes and the same calls, and one buffer between them.
#pragma once

#include <cstddef>

namespace gpuaes {

// Copies standard input to standard output, `buffer_bytes` at a time.
void run_copy(std::size_t buffer_bytes);

}  // namespace gpuaes
