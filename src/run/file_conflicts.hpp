// Checks of the file names that a command line gives: conflicts between files, and secrets given as names.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/requests.hpp"
#include "io/output_file.hpp"

namespace gpuaes {

// The status of an input, which may be standard input. None if there is no such file.
std::optional<struct stat> status_of(const std::string& name, int directory = AT_FDCWD);

// Whether both are the same regular file or block device: writing to one overwrites the other.
bool is_same_file(const struct stat& a, const struct stat& b);

// Whether writing both would conflict: one would replace the other, or their bytes would be mixed in one
// pipe. `a` must have a name.
bool is_same_output(const OutputTarget& a, const OutputTarget& b);

// The files that a command line names as inputs.
struct NamedInput {
  enum class Kind { secret, data, other };

  std::string_view what;
  std::string name;
  Kind kind;
};
class NamedInputs {
 public:
  // Adds the files of secrets. Call it before inputs are added.
  NamedInputs& add(const SecretRequest& secrets);

  // Adds the input, unless it is the output of a command.
  NamedInputs& add(const InputRequest& input);

  // Adds the file of a header, if it is separate.
  NamedInputs& add(const StreamRequest& stream);

  // Adds the inputs that are named, and the list of others.
  NamedInputs& add(const InputsRequest& inputs);

  const std::vector<NamedInput>& list() const { return list_; }
  bool has_command() const { return has_command_; }  // whose standard input is that of the program

 private:
  std::vector<NamedInput> list_;
  bool has_command_ = false;
};

// Call this once, before opening any file, since opening may block. A missing file conflicts with nothing;
// opening it reports the error. UsageError if
//  - two inputs share the bytes of one pipe, terminal or standard input,
//  - a secret is read from the input file: the type of the file would determine whether the data includes
//    the secret.
// From now on, commands do not inherit descriptors of secrets, and prompts leave standard input alone if it
// is one of the inputs.
void prepare_inputs(const NamedInputs& inputs);

// The check of a file whose name is found only during the run: that its name is not a secret, that it is not
// one of the secrets, and that it is a file or directory, since opening anything else may block. UsageError,
// IoError.
void refuse_unsuitable_file(const InputRequest& input, NamedInputs secrets);

// UsageError, with `hint`, if the input that --rekey replaces is not a regular file, or is standard output or
// standard error: a program that has the old file open would keep writing to it after it has been replaced.
void check_replaceable(const std::string& name, const char* hint);

struct OutputTargets {
  OutputTarget output;
  std::string shown = "--output";                           // in messages
  bool written = true;                                      // nothing is written to `output` otherwise
  std::optional<OutputTarget> stats{}, trace{}, receipt{};  // if requested
};

// What the outputs are now. Call this first: a file that appears at a name later is another program's.
OutputTargets find_outputs(const OutputRequest& output, const ReportRequest& reports = {});

// Call this after opening all inputs, since that may block, and before opening any output. UsageError if two
// outputs are the same file, or an output is also an input, with `data_hint` if that is the data.
void refuse_output_conflicts(const NamedInputs& inputs, const OutputTargets& targets,
                             const char* data_hint = "write to another file");

// UsageError if a file name is a key, identity or recipient instead and no such file exists. Secrets must not
// appear in messages, which may be logged.
void refuse_secret_as_name(const std::string& name);

}  // namespace gpuaes
