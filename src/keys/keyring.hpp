// What a user gives to open files or to seal them: key files, passphrases, identities and recipients. Formats
// have a row for each kind of key, which says how they wrap a file key for it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keys/kem.hpp"
#include "keys/plugin.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// In the order in which keys are tried: a plugin is run only if no other key opens a file, and the passphrase
// is asked for only if nothing else does.
//
// To add a kind: add its enumerator, its case in keyring.cpp, and its row to the slots or stanzas of each
// format that supports it (format/slots.cpp, format/stanzas.cpp).
enum class KeyKind {
  key_file,
  x25519,
  xwing,
  ssh_ed25519,
  ssh_rsa,
  p256,
  ml_kem_p256,
  plugin,
  passphrase,
  last = passphrase
};

// Whether keys of a kind are recipients and identities, so that anyone can encrypt for them.
bool is_asymmetric(KeyKind kind);
bool is_ssh(KeyKind kind);

// Whether a recipient is safe against quantum computers, so that it must not be combined with others.
bool is_post_quantum(KeyKind kind);

// The KEM of a kind of recipients and identities; null for other kinds.
const Kem* kem_of(KeyKind kind);

// The labels of recipients of a kind in age files (c2sp.org/age-plugin): only recipients with the same ones
// can be combined. Those of a plugin are known only when it wraps a file key.
std::vector<std::string> labels_of(KeyKind kind);

// Returns the passphrase for an input, whose name appears in the question if there is one: 1 to 1024 bytes.
// With `again`, the last one does not open the input, and the result is another, or none.
using AskPassphrase = std::function<std::optional<Secret>(const std::string& input, bool again)>;

struct Key {
  KeyKind kind;
  Secret secret{};           // of a key file, or the private key of an identity; of a plugin, its text
  PublicBytes public_key{};  // of a recipient or an SSH identity; of a plugin, its text
  AskPassphrase passphrase{};
  std::string name = "this one";     // of the file, for messages
  std::shared_ptr<Plugin> plugin{};  // that has the identity or recipient

  Key copy() const;
};

struct Keyring {
  std::vector<Key> keys;
  bool none_given = false;  // the user named no secret to open with

  Keyring copy() const;
  const Key* find(KeyKind kind) const;  // the first, or null
  std::size_t count(KeyKind kind) const;
  bool has_recipient() const;  // or an identity
};

}  // namespace gpuaes
