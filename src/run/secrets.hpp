// From the command line to secrets: key files, passphrase files, and passphrases that are asked for.
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
  std::vector<GivenKey> keys;          // in the order in which their files were named
  std::vector<Identity> identities;    // of those files that hold one
  std::vector<PublicKey> recipients;   // to seal for
  std::function<Secret()> passphrase;  // to be called once; empty where the options promise none
  std::vector<struct stat> files;      // where they were read: not to be written
};

// The contents of a file of a key or an identity, which is added to `files`: no more than is needed to see
// that it is too long. Warns where others can read it. IoError; UsageError where a secret stands in place of
// its name.
Secret read_key_file(const std::string& name, std::vector<struct stat>& files, const Messages& messages,
                     Cancel& cancel);

// Reads the files that `options` name, to open the input with or to seal it, and warns of those that others
// can read. IoError for what cannot be read, UsageError for what is no key, identity, recipient or
// passphrase. A passphrase on the terminal is asked for when passphrase() is called: twice to encrypt.
Secrets read_secrets(const Options& options, const Messages& messages, Cancel& cancel);

// The same for those that a file is to be rekeyed for.
Secrets read_new_secrets(const Options& options, const Messages& messages, Cancel& cancel);

}  // namespace gpuaes
