// Code shared by the main functions of all programs.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "process/control.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

// Calls `act`. Turns an exception into a message and an exit status, or ends the process with the signal that
// stopped it. First disables core dumps, and makes failed writes return errors instead of raising signals.
int run_program(std::string_view name, const std::function<void(Messages&)>& act);

// The error of a thread, or of another system resource, that could not be created.
IoError missing_resource(const std::error_code& code);

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

// Writes to standard output or standard error. IoError, Cancelled.
void print(std::span<const std::byte> bytes, Cancel& cancel, int fd = STDOUT_FILENO);
void print(const std::string& text, Cancel& cancel, int fd = STDOUT_FILENO);
void print(const std::string& text);  // while there is no other Cancel

}  // namespace gpuaes
