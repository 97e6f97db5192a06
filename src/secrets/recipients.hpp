// Recipients that a request names.
#pragma once

#include "cli/requests.hpp"
#include "io/cancel.hpp"
#include "keys/keyring.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// Each is a recipient, or @FILE for a file with one recipient per line. Empty lines and lines that begin with
// # are skipped. UsageError, IoError.
void add_recipients(Keyring& keyring, const SecretRequest& request, const Messages& messages, Cancel& cancel);

}  // namespace gpuaes
