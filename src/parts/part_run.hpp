// What the commands that seal or open one part have in common.
#pragma once

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/messages.hpp"
#include "cli/options.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "run/file_conflicts.hpp"

namespace gpuaes {

// Calls `action(progress, cancel)` once the options have been checked. Puts the number of the part before the
// message of an error.
template <class Action>
void run_part(Options& options, const Messages& messages, const Action& action) {
  RunControl control(messages);
  Progress progress(control.signals, messages, options.progress);
  try {
    refuse_input_conflicts(options);
    show_only_named_devices(options.lanes.named);
    action(progress, control.cancel);
  } catch (const PipeClosed&) {
    throw;
  } catch (const Error& error) {
    throw Error(error.exit(), fmt::format("part {}: {}", options.part.number, error.what()), error.hint());
  }
}

}  // namespace gpuaes
