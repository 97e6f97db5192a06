// Checks of the file names that a command line gives: conflicts between files, and secrets given as names.
#pragma once

#include <sys/stat.h>

#include <optional>

#include "cli/options.hpp"
#include "io/output_file.hpp"

namespace gpuaes {

// The hint for an input that --rekey cannot replace.
inline constexpr char not_replaceable_hint[] = "name another file with -o";

// The status of an input, which may be standard input. None if there is no such file.
std::optional<struct stat> status_of(const std::string& name);

// Whether both are the same regular file or block device: writing to one overwrites the other.
bool is_same_file(const struct stat& a, const struct stat& b);

// Whether writing both would conflict: one would replace the other, or their bytes would be mixed in one
// pipe. `a` must have a name.
bool is_same_output(const OutputTarget& a, const OutputTarget& b);

// Call this before opening any file, since opening may block. A missing file conflicts with nothing; opening
// it reports the error. UsageError if
//  - two inputs share the bytes of one pipe, terminal or standard input,
//  - a secret is read from the input file: the type of the file would determine whether the data includes
//    the secret,
//  - the input that --rekey replaces is not a regular file, or is standard output or standard error.
void refuse_input_conflicts(const Options& options);

// Keeps commands from inheriting descriptors that options name as secrets. Call this before running any.
void close_secrets_in_children(const Options& options);

// Whether standard input, by any name, is data, a secret or the input of a command.
bool uses_standard_input(const Options& options);

struct OutputTargets {
  OutputTarget output;
  std::optional<OutputTarget> stats{}, trace{}, receipt{};  // if requested
};

// What the outputs that `options` name are now. Call this first: a file that appears at a name later is
// another program's.
OutputTargets find_outputs(const Options& options);

// Call this after opening all inputs, since that may block, and before opening any output. UsageError if two
// outputs are the same file, or an output is also an input, except that --rekey may replace its input. With
// --test, nothing is written to `targets.output`.
void refuse_output_conflicts(const Options& options, const OutputTargets& targets);

// UsageError if a file name is a key, identity or recipient instead and no such file exists. Secrets must not
// appear in messages, which may be logged.
void refuse_secret_as_name(const std::string& name);

}  // namespace gpuaes
