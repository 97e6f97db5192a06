// Reads the secrets of a request: key files, recipients, passphrase files, and passphrases from commands
// and the terminal.
#pragma once

#include <cstdint>

#include "cli/requests.hpp"
#include "format/format.hpp"
#include "keys/keyring.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

// Reads secrets, and warns about files that other users can read. IoError if a file cannot be read;
// UsageError if one does not contain a key, identity, recipient or passphrase, or if the passphrase command
// fails. If no secret is named to decrypt with, the passphrase is asked for if there is a terminal and
// the input needs nothing else. Several threads may use a copy of the keyring each.
Keyring read_secrets(const SecretRequest& request, const Context& context);

// The same for the new secrets of --rekey.
Keyring read_new_secrets(const SecretRequest& request, const Context& context);

// The memory that deriving a key from a passphrase usually takes, if the keyring has one; otherwise 0.
std::uint64_t derivation_bytes(const Keyring& keyring);

// The request to seal or open an input, without the input itself. The members of `context` must outlive it.
SessionRequest make_request(Keyring keyring, const InputRequest& input, const FormatRequest& format,
                            bool decrypt, const Context& context);

// Returns a warning about new slots for `keyring`, or nullptr. Opening a file with a key does not prove who
// wrote it if others may know the file key, as anyone with a recipient's identity does. `had_recipient`:
// whether the file key comes from a file sealed for a recipient.
const char* writer_warning(const Keyring& keyring, bool had_recipient);

}  // namespace gpuaes
