// Key files that a request names: keys, identities, and SSH keys, encrypted or not.
#pragma once

#include <memory>
#include <string>

#include "cli/requests.hpp"
#include "files/named_file.hpp"
#include "keys/keyring.hpp"
#include "secrets/secret_file.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

// Reads a key or identity file, and decrypts it if it is encrypted. Warns if other users can read it, unless
// it contains recipients, which are public. IoError if it cannot be read; UsageError if it is too long or the
// name is itself a secret.
SecretFile read_key_file(const NamedFile& named, const Context& context);

// Adds the keys in all key files. To open an input, those with a passphrase wait until they are needed, and
// an SSH key that cannot be used is only noted in `unusable`, as another key may open it. By then, `given`
// may have a passphrase, which is tried first.
void add_key_files(Keyring& keyring, const SecretRequest& request,
                   const std::shared_ptr<const AskPassphrase>& given, const Context& context);

}  // namespace gpuaes
