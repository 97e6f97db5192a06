// --output-dir: one output for each of many inputs.
#pragma once

#include <functional>

#include "cli/requests.hpp"
#include "files/conflicts.hpp"
#include "keys/keyring.hpp"
#include "run/endpoints.hpp"
#include "run/report.hpp"
#include "terminal/context.hpp"
#include "terminal/progress.hpp"

namespace gpuaes {

// Encrypts or decrypts one file, whose input is open. Unless it is alone, the calling thread does all of the
// work.
using RunFile = std::function<void(const InputRequest& input, Endpoints endpoints,
                                   const OutputTargets& targets, const Context& context, bool alone)>;

struct ManyFiles {
  const NamedInputs &secrets, &named;  // `named` includes the inputs
  const Keyring& keyring;
  const OutputTargets& targets;
  const RunFile& run;
  Progress& progress;
};

// Runs all files of a request that has an output directory. UsageError, before anything is written, if inputs
// cannot have the outputs that their names require; otherwise as for_each_input().
void run_into_directory(const FilterRequest& request, const ManyFiles& files, const Context& context);

}  // namespace gpuaes
