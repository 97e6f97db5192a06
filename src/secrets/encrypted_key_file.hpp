// Key files that are encrypted with a passphrase: age files or sealed files that contain identities or a key.
#pragma once

#include <string>

#include "io/cancel.hpp"
#include "keys/secret.hpp"
#include "secrets/secret_file.hpp"

namespace gpuaes {

// Asks for the passphrase on the terminal, and returns what is in the file, which may be encrypted again.
// UsageError if it is too long.
SecretFile decrypt_key_file(const Secret& contents, const std::string& name, unsigned attempts,
                            Cancel& cancel);

}  // namespace gpuaes
