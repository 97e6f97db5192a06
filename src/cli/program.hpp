// What the main functions of all programs have in common.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "cli/messages.hpp"
#include "io/cancel.hpp"
#include "io/control.hpp"

namespace gpuaes {

// Calls `act`, and makes of what it throws a message and the exit status of the command line contract, or the
// end by a signal. Before that it keeps core dumps, and writes that fail, from doing harm.
int run_program(const std::string& name, const std::function<void(Messages&)>& act);

// What a run that can be stopped begins with: while it lives, the signals that end a program request
// `cancel`, and from then on no message waits for standard error.
struct RunControl {
  explicit RunControl(const Messages& messages)
      : cancelled_check(messages, [this] { return cancel.requested(); }) {}

  Cancel cancel;
  const Control signals{cancel};
  const Messages::CancelledCheck cancelled_check;
};

// Writes to standard output, or to standard error; once to each, since that is closed then.
void print(std::span<const std::byte> bytes, int fd = STDOUT_FILENO);
void print(std::span<const std::byte> bytes, int fd, Cancel& cancel);
void print(const std::string& text, int fd = STDOUT_FILENO);

}  // namespace gpuaes
