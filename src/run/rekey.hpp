// New slots for a sealed file, without encrypting it again (gpuaes-stream(5), "Message").
#pragma once

#include "cli/messages.hpp"
#include "cli/options.hpp"

namespace gpuaes {

// Opens the input's header with the secrets that `options` name, and writes the input with a header for the
// new ones: all slots are new, and what follows the header's MAC is as it was, byte for byte. An input that
// is named where no output is gets replaced, whole or not at all. Throws what run_filter() does.
void run_rekey(const Options& options, const Messages& messages);

}  // namespace gpuaes
