// Conflicts between the files that one command line names.
#pragma once

#include <sys/stat.h>

#include <span>

#include "cli/options.hpp"

namespace gpuaes {

// Before any file is opened, since opening may wait. A missing file conflicts with nothing; opening it
// reports the error. UsageError where
//  - two inputs share the bytes of one pipe, terminal or standard input,
//  - a secret is read from the input file: the kind of file decides whether the data would contain it,
//  - the input that --rekey replaces is not a regular file, or is standard output or standard error.
void refuse_input_conflicts(const Options& options);

// After all inputs have been opened, which may have taken any time, and before any output is. UsageError
// where two outputs are one file; IoError where an output is one of the files `in_use`.
void refuse_output_conflicts(const Options& options, std::span<const struct stat> in_use);

}  // namespace gpuaes
