// Reads passphrases from files, commands and the terminal.
#pragma once

#include <functional>
#include <string>

#include "cli/messages.hpp"
#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

struct Passphrase {
  explicit operator bool() const { return static_cast<bool>(get); }

  // Returns the passphrase for an input, whose name appears in the question if there is one. With `again`,
  // the one that it returned last does not open the input. Empty without a passphrase.
  std::function<Secret(const std::string& input, bool again)> get;
  unsigned attempts = 1;  // how often to call it for one input
};

// Asks for a passphrase on the terminal, once for several inputs unless it does not open one of them.
Passphrase ask_passphrase(Cancel& cancel);

// Asks for a passphrase and its repetition. UsageError if they differ three times.
Secret ask_new_passphrase(const std::string& question, Cancel& cancel);

// The first line of a file. UsageError if it is not a passphrase.
Secret read_passphrase(FdSource file, const Messages& messages);

// The first line that the shell command prints. UsageError if it is not a passphrase or the command fails.
// `option` is for messages.
Secret run_passphrase_command(const std::string& command, const char* option, const Messages& messages,
                              Cancel& cancel);

}  // namespace gpuaes
