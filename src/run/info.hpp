// --info: prints what an encrypted input reveals without a key.
#pragma once

#include "cli/messages.hpp"
#include "cli/requests.hpp"

namespace gpuaes {

// Prints the contents of the input's header and the sizes derived from the size of the input; for several
// inputs, one line for each. Reads only the header, and throws the same errors for it as decryption.
void print_info(const InfoRequest& request, const Messages& messages);

}  // namespace gpuaes
