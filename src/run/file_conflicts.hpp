// The files that a run reads: its input, and the files that secrets and recipients come from.
#pragma once

#include "cli/options.hpp"

namespace gpuaes {

// Looks at what `options` name before anything is read. UsageError where one input would take bytes from
// another: both are the same pipe, terminal or standard input; or where the input is a file that a secret is
// read from, since it depends on the kind of file whether the secret would be part of the data.
void refuse_same_inputs(const Options& options);

}  // namespace gpuaes
