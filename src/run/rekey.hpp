// --rekey: replaces the slots of a sealed file without encrypting it again (gpuaes-stream(5), "Message").
#pragma once

#include "cli/messages.hpp"
#include "cli/options.hpp"

namespace gpuaes {

// Opens the input's header with the current secrets in `options`, and writes the input with a header for the
// new ones. All slots are new; everything after the header's MAC is copied unchanged. If only the input is
// named, the complete output replaces it. Throws the same errors as run_filter().
void run_rekey(const Options& options, const Messages& messages);

}  // namespace gpuaes
