// Runs the program for each input that a command line names.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/requests.hpp"
#include "run/report.hpp"
#include "terminal/context.hpp"
#include "terminal/progress.hpp"

namespace gpuaes {

// Does the work for one input, with messages about it. Unless it is `alone`, other threads do the same for
// other inputs at the same time. The text is for standard output.
struct InputResult {
  std::string text{};
  bool skipped = false;
};
using RunInput = std::function<InputResult(const InputRequest& input, const Context& context, bool alone)>;

// Returns what standard output says about an input that failed.
using DescribeFailure = std::function<std::string(const InputRequest& input, const Error& error)>;

// What to do with inputs. All functions but the first may be empty; only `run` is called from other threads.
struct InputWork {
  RunInput run;
  bool only_files = false;  // InputRequest::only_file of inputs that are named; always of those in a list
  // Of an input that a list or a directory names, before it is run: whether it is left out, or an error.
  std::function<bool(const InputRequest& input)> leaves_out{};
  std::function<bool(const std::string& directory)> skips_directory{};  // below one that is named
  DescribeFailure describe_failure{};
  bool side_by_side = false;      // whether small inputs need not be alone; plugins may ask questions
  std::uint64_t extra_bytes = 0;  // of memory that inputs side by side need together, besides that of threads
  std::string verb{};             // such as "encrypted", for a summary at the end; none if empty
  Progress* progress = nullptr;   // shows all inputs together, until the summary; may be null
  std::function<void(const InputCounts& counts)> at_end{};  // called after the last input
};

// Calls `run` for each input and prints what it returns. If there are several, or if there is a summary,
// prints an error in one of them, also as `describe_failure` does, and continues with the next; Failed at the
// end has the highest exit status. If there is too little memory for inputs side by side, they are tried
// again one at a time. A signal also ends with the summary. A UsageError of `run` for the first one ends the
// run. IoError if the list cannot be read. A list or directory without files is an error.
void for_each_input(const InputsRequest& inputs, const Context& context, const InputWork& work);

// Calls `action`. If there are several inputs, a UsageError becomes an IoError, which concerns only this one.
void limit_usage_error(bool several, const std::function<void()>& action);

// Calls `action`. Puts the name of the input, unless it is empty, before an error in the input's data.
void name_input(const std::string& name, const std::function<void()>& action);

}  // namespace gpuaes
