// Key files that are encrypted with a passphrase: age files or sealed files that contain identities or a key.
#pragma once

#include "io/cancel.hpp"
#include "keys/keyring.hpp"
#include "secrets/secret_file.hpp"

namespace gpuaes {

// Returns what is in the file, which may be encrypted again. Asks for the passphrase on the terminal, after
// trying the one that is `given`, unless that is null or empty. UsageError if the contents are too long.
SecretFile decrypt_key_file(const SecretFile& encrypted, unsigned attempts, const AskPassphrase* given,
                            Cancel& cancel);

}  // namespace gpuaes
