// The whole filter, from options to a finished output.
#pragma once

#include "cli/messages.hpp"
#include "cli/options.hpp"

namespace gpuaes {

// Encrypts or decrypts as `options` specify. Returns only after all input has been processed and all output
// has been written; otherwise throws an Error or Cancelled.
void run_filter(Options options, const Messages& messages);

}  // namespace gpuaes
