// Reads the secrets that options name: key files, recipients, passphrase files, and passphrases from commands
// and the terminal.
#pragma once

#include "cli/messages.hpp"
#include "cli/options.hpp"
#include "format/format.hpp"
#include "io/cancel.hpp"
#include "keys/keyring.hpp"

namespace gpuaes {

// Reads the secrets for the input from the files that `options` name, and warns about files that other users
// can read. IoError if a file cannot be read; UsageError if one does not contain a key, identity, recipient
// or passphrase, or if the passphrase command fails. Commands do not inherit descriptors of the files. If no
// option names a secret to decrypt with, the passphrase is asked for if there is a terminal and the input
// needs nothing else.
Keyring read_secrets(const Options& options, const Messages& messages, Cancel& cancel);

// The same for the new secrets of --rekey.
Keyring read_new_secrets(const Options& options, const Messages& messages, Cancel& cancel);

// The request to seal or open the only input of `options`, without its other options and the input itself.
// `messages` and `cancel` must outlive it.
SessionRequest make_request(Keyring keyring, const Options& options, const Messages& messages,
                            Cancel& cancel);

// Returns a warning about new slots for `keyring`, or nullptr. Opening a file with a key does not prove who
// wrote it if others may know the file key, as anyone with a recipient's identity does. `had_recipient`:
// whether the file key comes from a file sealed for a recipient.
const char* writer_warning(const Keyring& keyring, bool had_recipient);

}  // namespace gpuaes
