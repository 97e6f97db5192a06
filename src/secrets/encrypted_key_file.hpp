// Key files that are encrypted with a passphrase: age files or sealed files that contain identities or a key.
#pragma once

#include <string>

#include "io/cancel.hpp"
#include "keys/keyring.hpp"
#include "keys/secret.hpp"
#include "secrets/secret_file.hpp"

namespace gpuaes {

// Returns what is in the file, which may be encrypted again. Asks for the passphrase on the terminal, after
// trying the one that is `given`, unless that is null or empty. UsageError if the contents are too long.
SecretFile decrypt_key_file(const Secret& contents, const std::string& name, unsigned attempts,
                            const AskPassphrase* given, Cancel& cancel);

}  // namespace gpuaes
