// --info: what can be known of an encrypted input without any key.
#pragma once

#include "cli/messages.hpp"
#include "cli/options.hpp"

namespace gpuaes {

// Reads the header of the input and nothing behind it, and prints what it says and what follows from the
// input's size. Errors as to decrypt.
void print_info(const Options& options, const Messages& messages);

}  // namespace gpuaes
