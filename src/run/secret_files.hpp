// Reads files of keys, identities, recipients and passphrases.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>
#include <vector>

#include "cli/messages.hpp"
#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// Opens a file. IoError; UsageError if the name is itself a secret.
FdSource open_secret_file(const std::string& name, Cancel& cancel);

void warn_if_readable(const std::string& name, const FdSource& file, const Messages& messages);

// The contents of a file, up to `max` bytes.
Secret read_up_to(std::size_t max, FdSource& file);

// The contents of a file of keys, identities or recipients. UsageError if it is too long for one.
Secret read_contents(FdSource& file);

// Returns the contents of a key or identity file. Warns if other users can read it, unless it contains
// recipients, which are public. IoError if it cannot be read; UsageError if it is too long or the name is
// itself a secret.
Secret read_key_file(const std::string& name, const Messages& messages, Cancel& cancel);

}  // namespace gpuaes
