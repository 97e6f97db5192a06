// Turns the signals that users end a filter with into a request to stop. The only user of Boost.Asio.
#pragma once

#include <memory>

#include "io/cancel.hpp"

namespace gpuaes {

// While it lives, SIGINT, SIGTERM and SIGHUP request `cancel`, save those that were inherited as ignored (nohup,
// background jobs), and SIGPIPE is ignored, so that a write to a closed pipe fails with EPIPE.
class SignalWatch {
 public:
  explicit SignalWatch(Cancel& cancel);
  ~SignalWatch();

  // Whether SIGPIPE was ignored already: a closed pipe is then an error as any other, and not a quiet end.
  bool pipe_was_ignored() const noexcept;

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

// Ends the process by `signal`, with its default action. Call it when all has been unwound and wiped.
[[noreturn]] void die_by(int signal);

}  // namespace gpuaes
