// Key files that a request names: keys, identities, and SSH keys, encrypted or not.
#pragma once

#include <memory>
#include <string>

#include "cli/requests.hpp"
#include "files/named_file.hpp"
#include "keys/keyring.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

// Adds the keys in all key files. To open an input, those with a passphrase wait until they are needed, and
// an SSH key that cannot be used is recorded in `unusable`, as another key may open it. By then, `given`
// may have a passphrase, which is tried first.
void add_key_files(Keyring& keyring, const SecretRequest& request,
                   const std::shared_ptr<const AskPassphrase>& given, const Context& context);

// The recipients of the identities in a file, which may be encrypted, one per line. UsageError if it contains
// anything else; IoError.
std::string read_recipients_of(const NamedFile& named, const Context& context);

}  // namespace gpuaes
