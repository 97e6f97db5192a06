// Files on one command line that get in each other's way.
#pragma once

#include "cli/options.hpp"

namespace gpuaes {

// Compares all files that `options` name, before any of them is opened. A missing file conflicts with
// nothing; opening it reports the error. UsageError where
//  - two inputs share the bytes of one pipe, terminal or standard input,
//  - a secret is read from the input file: the kind of file decides whether the data would contain it,
//  - two outputs are one file,
//  - the input that --rekey replaces is not a regular file, or is standard output or standard error.
// IoError where an output is a file that is read.
void refuse_file_conflicts(const Options& options);

}  // namespace gpuaes
