// The commands of gpuaes-parts. Each throws an Error or Cancelled if it fails.
#pragma once

#include "cli/requests.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// Makes the directory of a new sealed file, with its job file and its head. Prints the number of parts, if it
// is known.
void run_plan(const PlanRequest& request, const Messages& messages);

// Seals one part, or all that are missing, unless another attempt has completed it.
void run_seal(const SealRequest& request, const Messages& messages);

// Prints which parts are complete, missing or being sealed. With --missing, ends with Failed if some are.
void run_status(const StatusRequest& request, const Messages& messages);

// Checks all parts, and writes the index.
void run_join(const JoinRequest& request, const Messages& messages);

}  // namespace gpuaes
