// From -r to public keys.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "io/cancel.hpp"
#include "keys/x25519.hpp"

namespace gpuaes {

// Each of `given` is a recipient, or @ and the name of a file with one on each line, besides empty lines and
// those that begin with #. Adds the files to `files`. IoError for what cannot be read, UsageError for what is
// no recipient.
std::vector<PublicKey> read_recipients(const std::vector<std::string>& given, std::vector<struct stat>& files,
                                       Cancel& cancel);

}  // namespace gpuaes
