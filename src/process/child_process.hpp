// Runs a command, reads its standard output and writes its standard input.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "io/cancel.hpp"
#include "io/fd.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

struct Command {
  std::vector<std::string> words;  // the program, which is searched for in PATH, and its arguments
  std::string name;                // in messages; arguments may be secrets
  enum class Input { empty, inherited, pipe } input = Input::empty;  // its standard input
  std::string directory{};  // in which it runs; if empty, the current one
};

// One run of a command. It gets the descriptors (except those that close_in_children() closes), environment
// and signal actions that this program started with. Its standard output is a pipe to this program.
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

  // With Input::pipe, its standard input; call this once.
  FdSink input();

  // IoError if the command cannot be run.
  void start();

  // Whether a started command ends within that time.
  bool ends_within(std::chrono::milliseconds time);

  // Ends a command that is still running with `signal`, or after `patience` with SIGKILL.
  void stop(int signal, std::chrono::milliseconds patience);

  // How the command failed, such as "failed with exit status 1"; empty if it succeeded or has not ended.
  std::string failure() const;

 private:
  struct Pipe {
    Fd read_end{-1}, write_end{-1};
  };
  Pipe open_pipe() const;
  void wait_for_success();

  Command command_;
  Cancel& cancel_;
  Pipe input_, output_;
  pid_t pid_ = 0;   // 0 unless it is running
  int status_ = 0;  // from waitpid(2), when it has ended
};

// Keeps commands from inheriting readable descriptors of a file that contains a secret. Instead of
// standard input and standard error, they get /dev/null. Terminals stay open.
void close_in_children(const struct stat& file);

}  // namespace gpuaes
