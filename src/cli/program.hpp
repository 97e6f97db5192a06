// What the main functions of all programs share.
#pragma once

#include <functional>
#include <string_view>

#include "terminal/messages.hpp"

namespace gpuaes {

// Calls `act`. Turns an exception into a message and an exit status, or ends the process with the signal that
// stopped it. First disables core dumps, and makes failed writes return errors instead of raising signals.
int run_program(std::string_view name, const std::function<void(Messages&)>& act);

}  // namespace gpuaes
