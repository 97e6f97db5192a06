// Runs the program for each input that a command line names.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "cli/requests.hpp"
#include "terminal/context.hpp"
#include "terminal/progress.hpp"

namespace gpuaes {

// What became of one input; `text` goes to standard output.
struct InputResult {
  std::string text{};
  bool skipped = false;
};

// How many inputs there were.
struct InputCounts {
  std::uint64_t done = 0, skipped = 0, failed = 0;
};

// How inputs are run.
struct InputRules {
  bool only_files = false;    // InputRequest::only_file of inputs that are named; always of those in a list
  bool side_by_side = false;  // whether small inputs need not be alone; plugins may ask questions
  std::uint64_t extra_bytes = 0;  // of memory that inputs side by side need together, besides that of threads
  std::string verb{};             // such as "encrypted", for a summary at the end; none if empty
  Progress* progress = nullptr;   // shows all inputs together, until the summary; may be null
};

// What is done with inputs. Only run() and describe_failure() are called from other threads.
class InputRun {
 public:
  virtual ~InputRun() = default;

  // Does the work for one input, with messages about it. Unless it is `alone`, other threads do the same for
  // other inputs at the same time.
  virtual InputResult run(const InputRequest& input, const Context& context, bool alone) = 0;

  virtual InputRules rules() const { return {}; }

  // Whether to leave out an input found in a list or a directory. Called before run(); may throw its error.
  virtual bool leaves_out(const InputRequest&) { return false; }

  // Whether to skip a directory below one that is named.
  virtual bool skips_directory(const std::string&) const { return false; }

  // The text for standard output about an input that failed.
  virtual std::string describe_failure(const InputRequest&, const Error&) const { return {}; }

  // Called after the last input.
  virtual void at_end(const InputCounts&) {}
};

// Runs each input and prints the text of its result. If there are several, or if there is a summary, prints
// an error in one of them, also as describe_failure() does, and continues with the next; Failed at the end
// has the highest exit status. If there is too little memory for inputs side by side, they are tried again
// one at a time. A signal also ends with the summary. A UsageError for the first one ends the run. IoError if
// the list cannot be read. A list or directory without files is an error.
void for_each_input(const InputsRequest& inputs, const Context& context, InputRun& run);

}  // namespace gpuaes
