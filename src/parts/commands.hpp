// The commands of gpuaes-parts. Each throws an Error or Cancelled if it fails.
#pragma once

#include "cli/messages.hpp"
#include "cli/options.hpp"

namespace gpuaes {

// Makes the directory of a new sealed file, with its job file and its head. Prints the number of parts, if it
// is known.
void run_plan(const Options& options, const Messages& messages);

// Seals one part, unless another attempt has completed it.
void run_seal(Options options, const Messages& messages);

// Prints which parts are complete, missing or being sealed. With --missing, ends with Failed if some are.
void run_status(const Options& options, const Messages& messages);

// Checks all parts, and writes the index.
void run_join(const Options& options, const Messages& messages);

}  // namespace gpuaes
