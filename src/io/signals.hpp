// Turns the signals that users end a filter with into a request to stop. The only user of Boost.Asio.
#pragma once

#include <memory>

#include "io/cancel.hpp"

namespace gpuaes {

// From now on a write to a pipe that nobody reads, or beyond a limit on file sizes, fails as any other,
// instead of ending the process with something half written. Returns whether SIGPIPE was ignored already.
bool ignore_write_signals();

// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT request `cancel`, save those that were inherited as
// ignored (nohup, background jobs).
class SignalWatch {
 public:
  explicit SignalWatch(Cancel& cancel);
  ~SignalWatch();

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

// Ends the process by `signal`, with its default action. Call it when all has been unwound and wiped.
[[noreturn]] void die_by(int signal);

}  // namespace gpuaes
