// From the command line to secrets: key files, recipients, passphrase files, and passphrases from the
// terminal.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>
#include <vector>

#include "cli/messages.hpp"
#include "cli/options.hpp"
#include "io/cancel.hpp"
#include "keys/key.hpp"
#include "keys/recipient.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

struct Secrets {
  std::vector<FileKey> keys;           // in the order in which their files were named
  std::vector<Identity> identities;    // of those files that hold one
  std::vector<PublicKey> recipients;   // to seal for
  std::function<Secret()> passphrase;  // to be called once; empty where the options promise none
  std::vector<struct stat> files;      // that they were read from, and that may not be written
};

// The contents of a key or identity file, at most one byte more than such a file may have. Adds the file to
// `files`. Warns if others can read it. IoError; UsageError if the name is itself a secret.
Secret read_key_file(const std::string& name, std::vector<struct stat>& files, const Messages& messages,
                     Cancel& cancel);

// Reads the files that `options` name, to open the input with or to seal it, and warns of those that others
// can read. IoError for what cannot be read, UsageError for what is no key, identity, recipient or
// passphrase. A passphrase on the terminal is asked for when passphrase() is called: twice to encrypt.
Secrets read_secrets(const Options& options, const Messages& messages, Cancel& cancel);

// The same for the secrets that a file is rekeyed for.
Secrets read_new_secrets(const Options& options, const Messages& messages, Cancel& cancel);

// The warning, or nullptr, about new slots for `secrets`: a slot that opens does not prove who wrote the file
// if others could have the file key, which anyone can who has the identity of a recipient. `had_recipient`:
// the file key comes from a file that was sealed for one.
const char* writer_warning(const Secrets& secrets, bool had_recipient);

}  // namespace gpuaes
