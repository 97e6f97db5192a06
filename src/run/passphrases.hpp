// Reads passphrases from files, commands and the terminal.
#pragma once

#include <string>

#include "cli/messages.hpp"
#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/keyring.hpp"

namespace gpuaes {

// Asks for a passphrase on the terminal, up to three times for each input. Returns the last answer for the
// next input first. UsageError if the third answer is empty or too long.
AskPassphrase ask_passphrase(Cancel& cancel);

// Asks for a passphrase and its repetition. UsageError if they differ three times.
Secret ask_new_passphrase(const std::string& question, Cancel& cancel);

// The first line of a file. UsageError if it is not a passphrase.
Secret read_passphrase(FdSource file, const Messages& messages);

// The first line that the shell command prints. UsageError if it is not a passphrase or the command fails.
// `option` is for messages.
Secret run_passphrase_command(const std::string& command, const char* option, const Messages& messages,
                              Cancel& cancel);

}  // namespace gpuaes
