// The copy-only filter: what a pipe costs when nothing is done to the bytes. The filter's own ends, so with the same
// pipe sizes and the same calls, and one buffer between them.
#pragma once

namespace gpuaes {

// Copies standard input to standard output.
void run_copy();

}  // namespace gpuaes
