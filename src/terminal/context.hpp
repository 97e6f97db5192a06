// The messages and the cancellation of a run, apart from what its request asks for.
#pragma once

#include "io/cancel.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// For functions that use both. Copies refer to the same two objects.
struct Context {
  const Messages& messages;
  Cancel& cancel;
};

}  // namespace gpuaes
