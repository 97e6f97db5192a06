// What a file of keys contains. The contents are classified once; each reader visits the answer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.hpp"
#include "keys/key.hpp"

namespace gpuaes {

// Identities, one per line: parse_identities().
struct IdentityLines {};

// The private key of an SSH key: SshKeyFile.
struct SshPrivateKey {};

// Recipients, one per line: parse_recipient().
struct RecipientLines {
  bool first_is_ssh;
};

// A file that is encrypted with a passphrase, and contains any of the others.
struct EncryptedKeyFile {};

// None of these.
struct NoKeys {
  UsageError why;
  bool broken_key = false;  // `why` is what is wrong with a key, as there is nothing else that it could be
};

using KeyFile = std::variant<RawKey, IdentityLines, SshPrivateKey, RecipientLines, EncryptedKeyFile, NoKeys>;

// Classifies the contents of the file `name`. `encrypted` is how encrypted files begin. No memory access and
// no branch depends on the contents of a raw key.
KeyFile classify_key_file(std::span<const std::byte> contents, const std::string& name,
                          std::span<const std::string> encrypted = {});

}  // namespace gpuaes
