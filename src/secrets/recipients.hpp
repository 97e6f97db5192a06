// Recipients that a request names.
#pragma once

#include "cli/requests.hpp"
#include "keys/keyring.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

// Adds recipients, also those in files: one per line, except for empty lines and those that begin with #.
// UsageError, IoError.
void add_recipients(Keyring& keyring, const SecretRequest& request, const Context& context);

}  // namespace gpuaes
