// Reads the secrets that options name: key files, recipients, passphrase files, and passphrases from commands
// and the terminal.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "cli/messages.hpp"
#include "cli/options.hpp"
#include "format/sealed.hpp"
#include "io/cancel.hpp"
#include "keys/key.hpp"
#include "keys/recipient.hpp"
#include "keys/secret.hpp"
#include "run/passphrases.hpp"

namespace gpuaes {

struct Secrets {
  std::vector<FileKey> keys;          // in the order of the options
  std::vector<Identity> identities;   // from key files that contain any
  std::vector<Recipient> recipients;  // to seal for
  Passphrase passphrase;
  bool none_given = false;  // no option names a secret; see SessionRequest

  Secrets copy() const;
};

// Reads the secrets for the input from the files that `options` name, and warns about files that other users
// can read. IoError if a file cannot be read; UsageError if one does not contain a key, identity, recipient
// or passphrase, or if the passphrase command fails. Commands do not inherit descriptors of the files. If no
// option names a secret to decrypt with, the passphrase is asked for if there is a terminal and the input
// needs nothing else.
Secrets read_secrets(const Options& options, const Messages& messages, Cancel& cancel);

// The same for the new secrets of --rekey.
Secrets read_new_secrets(const Options& options, const Messages& messages, Cancel& cancel);

// The request to seal or open the only input of `options`, without its other options and the input itself.
// `messages` and `cancel` must outlive it.
SessionRequest make_request(Secrets secrets, const Options& options, const Messages& messages,
                            Cancel& cancel);

// The header of a sealed file with a slot for each of the secrets. Asks for the passphrase, if there is one.
std::vector<std::byte> make_header(SealedSuite suite, const Secret& file_key, const Secrets& secrets,
                                   Cancel& cancel);

// Returns a warning about new slots for `secrets`, or nullptr. Opening a file with a key does not prove who
// wrote it if others may know the file key, as anyone with a recipient's identity does. `had_recipient`:
// whether the file key comes from a file sealed for a recipient.
const char* writer_warning(const Secrets& secrets, bool had_recipient);

}  // namespace gpuaes
