// Recipients that a request names.
#pragma once

#include "cli/requests.hpp"
#include "io/cancel.hpp"
#include "keys/keyring.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// Adds recipients, also those in files: one per line, except for empty lines and those that begin with #.
// UsageError, IoError.
void add_recipients(Keyring& keyring, const SecretRequest& request, const Messages& messages, Cancel& cancel);

}  // namespace gpuaes
