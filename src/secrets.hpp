// From the command line to secrets: key files, passphrase files, and passphrases that are asked for.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>
#include <vector>

#include "cipher/secret.hpp"
#include "io/cancel.hpp"
#include "messages.hpp"
#include "options.hpp"

namespace gpuaes {

struct Secrets {
  std::vector<Secret> keys;             // in the order in which their files were named
  std::function<Secret()> passphrase;   // to be called once; empty where the options promise none
  std::vector<struct stat> files;       // where they were read: not to be written
  std::vector<struct stat> read_whole;  // of these, the key files: read to their end
};

// Reads the files that `options` name, and warns of those that others can read. IoError for what cannot be
// read, UsageError for what is no key or passphrase. A passphrase on the terminal is asked for when
// passphrase() is called: twice to encrypt.
Secrets read_secrets(const Options& options, const Messages& messages, Cancel& cancel);

}  // namespace gpuaes
