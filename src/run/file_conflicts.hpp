// Conflicts between the files that one command line names: all rules for them are here.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <span>

#include "cli/options.hpp"
#include "io/output_file.hpp"

namespace gpuaes {

// What to do about an input that --rekey cannot replace.
inline constexpr char not_replaceable_hint[] = "name another file with -o";

// Whether both are the same regular file or block device: what is written would be read, or destroyed before.
bool is_same_file(const struct stat& a, const struct stat& b);

// Whether `a`, which has a name, and `b` cannot both be written: one would replace the other, or they would
// be mixed in one pipe.
bool is_same_output(const OutputTarget& a, const OutputTarget& b);

// Before any file is opened, since opening may wait. A missing file conflicts with nothing; opening it
// reports the error. UsageError where
//  - two inputs share the bytes of one pipe, terminal or standard input,
//  - a secret is read from the input file: the kind of file decides whether the data would contain it,
//  - the input that --rekey replaces is not a regular file, or is standard output or standard error.
void refuse_input_conflicts(const Options& options);

struct OutputTargets {
  OutputTarget output;
  std::optional<OutputTarget> stats{}, trace{};  // if asked for
};

// After all inputs have been opened, which may have taken any time, and before any output is. UsageError
// where two outputs are one file; IoError where an output is one of the files `in_use`. With --test nothing
// is written to `targets.output`.
void refuse_output_conflicts(const Options& options, const OutputTargets& targets,
                             std::span<const struct stat> in_use);

}  // namespace gpuaes
