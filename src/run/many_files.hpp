// --output-dir: one output for each of many inputs.
#pragma once

#include <memory>

#include "cli/requests.hpp"
#include "run/inputs.hpp"
#include "terminal/context.hpp"
#include "terminal/progress.hpp"

namespace gpuaes {

// A run whose outputs are in the directory that the request names. UsageError, before anything is written, if
// inputs cannot have the outputs that their names require.
std::unique_ptr<InputRun> make_directory_run(const FilterRequest& request, Progress& progress,
                                             const Context& context);

}  // namespace gpuaes
