// The commands of gpuaes-parts. Each throws an Error or Cancelled if it fails.
#pragma once

#include "cli/messages.hpp"
#include "cli/options.hpp"

namespace gpuaes {

// Writes a new job file.
void run_plan(const Options& options, const Messages& messages);

// Seals one part, unless another attempt has completed it.
void run_seal(Options options, const Messages& messages);

// Checks all parts or receipts, and writes the sealed file or its ends.
void run_join(const Options& options, const Messages& messages);

// Prints the index.
void run_list(const Options& options, const Messages& messages);

// Decrypts one part.
void run_open(Options options, const Messages& messages);

}  // namespace gpuaes
