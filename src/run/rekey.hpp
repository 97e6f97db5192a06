// --rekey: replaces the slots of a sealed file without encrypting it again (gpuaes-stream(5), "Message").
#pragma once

#include "cli/requests.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// Opens the input's header with the current secrets, and writes the input with a header for the new ones. All
// slots are new; everything after the header's MAC is copied unchanged. In place, the complete output
// replaces the input. Throws the same errors as run_filter().
void run_rekey(const RekeyRequest& request, const Messages& messages);

}  // namespace gpuaes
