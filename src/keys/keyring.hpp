// What a user gives to open files or to seal them: key files, passphrases, identities and recipients. Each
// format has a table of these kinds, which says how it wraps a file key for them.
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "keys/kem.hpp"
#include "keys/plugin.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// In the order in which keys are tried: a plugin is run only if no other key opens a file, and the passphrase
// is asked for only if nothing else does.
//
// To add a kind: add its enumerator, its row in keyring.cpp, and its rows in the tables of the formats
// (format/slots.cpp, format/stanzas.cpp).
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

// Only those who have a symmetric key can encrypt with it. The others are recipients and identities, so
// anyone can encrypt for them: keys in age's encoding, SSH keys, and those that only a plugin understands.
enum class KeyFamily { symmetric, age, ssh, plugin };

struct KeyKindInfo {
  KeyKind kind;
  KeyFamily family;
  const Kem* kem = nullptr;  // if it has one
  // How texts in Bech32 begin (c2sp.org/age); empty if the kind has none.
  std::string_view recipient_prefix = {}, identity_prefix = {};
  // Whether recipients are safe against quantum computers, so that they must not be combined with others.
  bool post_quantum = false;
  // For messages about secrets that do not open a file.
  std::string_view opener;  // what opens a file that was encrypted for such a key
  std::string_view missing;
  std::string_view wrong = "none of the given identities opens the input";
  Advice missing_advice = Advice::name_identity_file;
};

std::span<const KeyKindInfo> key_kinds();  // in the order of KeyKind
const KeyKindInfo& info(KeyKind kind);

inline bool is_asymmetric(KeyKind kind) {
  return info(kind).family != KeyFamily::symmetric;
}
inline bool is_ssh(KeyKind kind) {
  return info(kind).family == KeyFamily::ssh;
}
inline bool is_post_quantum(KeyKind kind) {
  return info(kind).post_quantum;
}

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

// A key file with a passphrase, for opening inputs.
struct LockedKeys {
  std::shared_ptr<const Key> recipient{};  // of an SSH key, the only one in its file; otherwise null
  std::shared_future<std::vector<Key>>
      keys;  // asks for the passphrase the first time; Error unless that opens it
};

struct Keyring {
  std::vector<Key> keys;
  bool none_given = false;  // the user named no secret to open with
  std::vector<LockedKeys> locked{};
  std::vector<Error> unusable{};  // what is wrong with SSH keys that cannot open anything

  Keyring copy() const;
  const Key* find(KeyKind kind) const;    // the first, or null
  std::size_t count(KeyKind kind) const;  // including SSH keys with a passphrase
  bool has_recipient() const;             // or an identity
  bool has_plugin() const { return find(KeyKind::plugin) != nullptr; }
  bool empty() const { return keys.empty() && locked.empty(); }
  void unlock(const LockedKeys& file);  // adds copies of its keys
  void unlock_all();
};

}  // namespace gpuaes
