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
#include "terminal/context.hpp"

namespace gpuaes {

// Ample for any number of identities or recipients with comments. Limits how much is read from a device such
// as /dev/zero.
inline constexpr std::size_t max_file_bytes = 1 << 20;

// The contents of a file, up to `max` bytes.
Secret read_up_to(std::size_t max, FdSource& file);

// Warns if other users can read the file.
void warn_if_readable(const NamedFile& file, const FdSource& opened, const Messages& messages);

// Call it in the context of the file. UsageError if the name is itself a secret; IoError.
FdSource open_secret_file(const NamedFile& file, Cancel& cancel);

// What was read from a file of keys or recipients, encrypted or not.
struct SecretFile {
  SecretFile(NamedFile named, Secret read);

  NamedFile file;
  Secret contents;
  KeyFile kind;

  std::string name() const { return file.shown(); }  // for messages
};

// Call it in the context of the file. Warns, if it should, when other users can read secrets in plaintext.
// UsageError if it is too long, or the name is itself a secret; IoError.
SecretFile read_secret_file(const NamedFile& named, bool should_warn, const Context& context);

// UsageError if one of the inputs that may be a file of keys or recipients is one.
void refuse_keys_as_inputs(const InputsRequest& inputs, Cancel& cancel);

}  // namespace gpuaes
