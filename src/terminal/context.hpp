// The messages and the cancellation of a run, apart from what its request asks for.
#pragma once

#include "io/cancel.hpp"
#include "process/control.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// For functions that use both. Copies refer to the same two objects.
struct Context {
  const Messages& messages;
  Cancel& cancel;
};

// Lets signals stop a run: while one exists, the signals that end a program request a stop through `cancel`,
// after which messages no longer wait for standard error.
struct RunControl {
  explicit RunControl(const Messages& messages) : context{messages, cancel} {
    messages.line().set_cancelled_check([this] { return cancel.requested(); });
  }
  ~RunControl() { context.messages.line().set_cancelled_check({}); }
  RunControl(const RunControl&) = delete;
  RunControl& operator=(const RunControl&) = delete;

  Cancel cancel;
  const Control signals{cancel};
  const Context context;
};

}  // namespace gpuaes
