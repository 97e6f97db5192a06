// Passphrases: from the terminal, from files, and from commands.
#pragma once

#include <string>

#include "cli/requests.hpp"
#include "keys/keyring.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

// Asks for passphrases on the terminal, up to `attempts` times for each input. Before that, tries the answers
// that other inputs got, unless they did not open those; the latest first. Copies may be called by several
// threads, for an input each.
AskPassphrase ask_passphrases(unsigned attempts, Cancel& cancel, const std::string& opened = "the input");

inline constexpr char give_passphrase_hint[] = "use --passphrase-file FILE to read it from a file";

// Asks for the passphrase of a key file, after trying the one that is `given`, unless that is empty. `hint`
// is for a run that has neither this nor a terminal.
AskPassphrase ask_for_file(const std::string& name, const std::string& hint, unsigned attempts,
                           const AskPassphrase& given, Cancel& cancel);

// The passphrase that a request names, or an empty function. To seal, asks for a new passphrase, once.
// UsageError if a file or command does not contain a passphrase, or the command fails; IoError.
AskPassphrase find_passphrase(const SecretRequest& request, const Context& context);

}  // namespace gpuaes
