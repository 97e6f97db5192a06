// The whole filter, from options to a finished output.
#pragma once

#include "cli/messages.hpp"
#include "cli/options.hpp"

namespace gpuaes {

// Encrypts or decrypts as `options` say. Returns only when all the input was processed and all the output is
// safe; otherwise throws an Error, or Cancelled.
void run_filter(const Options& options, const Messages& messages);

}  // namespace gpuaes
