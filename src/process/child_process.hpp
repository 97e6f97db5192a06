// Runs a command and reads its standard output.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "io/cancel.hpp"
#include "io/fd.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

struct Command {
  std::vector<std::string> words;  // the program, which is searched for in PATH, and its arguments
  std::string name;                // in messages; arguments may be secrets
  bool inherits_input = false;     // otherwise, its standard input is empty
};

// One run of a command. It gets the descriptors (except those that close_in_children() closes), environment
// and signal actions that this program started with. Its standard output is a pipe to this program, and its
// standard input is empty unless `inherits_input`.
class ChildProcess {
 public:
  // Does not start the command. IoError if there are too many open files.
  ChildProcess(Command command, Cancel& cancel);

  // If the command is still running, sends it the signal that stops this program, or SIGTERM, and waits for
  // it. After a few seconds, kills it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Its standard output; call this once. The end of the output is an IoError unless the command succeeds.
  // Destroy the source first: the command must not wait for it to be read.
  FdSource output();

  // IoError if the command cannot be run.
  void start();

 private:
  void wait_for_success();

  Command command_;
  Cancel& cancel_;
  Fd read_end_{-1}, write_end_{-1};
  pid_t pid_ = 0;  // 0 unless it is running
};

// Keeps commands from inheriting readable descriptors of a file that contains a secret. Instead of
// standard input and standard error, they get /dev/null. Terminals stay open.
void close_in_children(const struct stat& file);

}  // namespace gpuaes
