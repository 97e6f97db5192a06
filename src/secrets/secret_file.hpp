// Reads files of secrets.
#pragma once

#include <cstddef>
#include <string>

#include "cli/requests.hpp"
#include "files/named_file.hpp"
#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/key_file.hpp"
#include "keys/secret.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// Ample for any number of identities or recipients with comments. Limits how much is read from a device such
// as /dev/zero.
inline constexpr std::size_t max_file_bytes = 1 << 20;

// The contents of a file, up to `max` bytes.
Secret read_up_to(std::size_t max, FdSource& file);

void warn_if_readable(const FdSource& file, const Messages& messages);

// Call it in the context of the file. UsageError if the name is itself a secret; IoError.
FdSource open_secret_file(const NamedFile& file, Cancel& cancel);

struct SecretFile {
  Secret contents;
  KeyFile kind;
};

// Reads a file of keys or recipients. UsageError if it is too long.
SecretFile read_secret_file(FdSource& file);

// UsageError if one of the inputs that may be a file of keys or recipients is one.
void refuse_keys_as_inputs(const InputsRequest& inputs, Cancel& cancel);

// What the contents of the file `name` are, encrypted or not.
KeyFile classify(const Secret& contents, const std::string& name);

}  // namespace gpuaes
