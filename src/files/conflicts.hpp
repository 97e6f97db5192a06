// Conflicts between the files that a command line names.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "files/named_file.hpp"
#include "io/directory.hpp"
#include "io/output_target.hpp"

namespace gpuaes {

// Whether writing both would conflict: one would replace the other, or their bytes would be mixed in one
// pipe. `a` must have a name.
bool is_same_output(const OutputTarget& a, const OutputTarget& b);

// The files that a command line names as inputs. Those of secrets come first.
struct NamedInput {
  std::string what;  // in messages: the option, or "the input"
  NamedFile file;
};
class NamedInputs {
 public:
  void add(const NamedFile& file);
  void add_command() { has_command_ = true; }  // whose output is an input

  const std::vector<NamedInput>& list() const { return list_; }
  bool has_command() const { return has_command_; }  // whose standard input is that of the program

 private:
  std::vector<NamedInput> list_;
  bool has_command_ = false;
};

// Call this once, before opening any file, since opening may block. A missing file conflicts with nothing;
// opening it reports the error. UsageError if
//  - a name is a secret,
//  - two inputs share the bytes of one pipe, terminal or standard input,
//  - a secret is read from the input file: the type of the file would determine whether the data includes
//    the secret.
// If data is read `only_from_files`, its pipes and terminals are errors of their own. From now on, commands
// do not inherit descriptors of secrets, and prompts leave standard input alone if it is one of the inputs.
void prepare_inputs(const NamedInputs& inputs, bool only_from_files = false);

// IoError if an input, opened with this status, is one of the secrets.
void refuse_secret_as_input(const NamedFile& input, const struct stat& opened, NamedInputs secrets);

// UsageError, with `hint`, if the input that --rekey replaces is not a regular file, or is standard output or
// standard error: a program that has the old file open would keep writing to it after it has been replaced.
void check_replaceable(const NamedFile& file, const char* hint);

// Those that a run has.
struct OutputTargets {
  std::optional<OutputTarget> output{}, stats{}, trace{}, receipt{};
};

// What the outputs are now. Call this first: a file that appears at a name later is another program's.
OutputTargets find_outputs(const std::optional<NamedFile>& output, const std::optional<NamedFile>& stats = {},
                           const std::optional<NamedFile>& trace = {});

// The target of a file, or standard output.
OutputTarget find_target(const std::optional<NamedFile>& file);

// Call this after opening all inputs, since that may block, and before opening any output. UsageError if two
// outputs are the same file, or an output is also an input, with `data_hint` if that is the data.
void refuse_output_conflicts(const NamedInputs& inputs, const OutputTargets& targets,
                             const char* data_hint = "write to another file");

// UsageError if an output is in the directory, where it could replace a file.
void refuse_outputs_in(const Directory& directory, const OutputTargets& targets);

}  // namespace gpuaes
