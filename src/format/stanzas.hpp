// The stanzas of age files: how each kind of key wraps a file key (c2sp.org/age, "Native recipient types"),
// and those of a new file, or of one whose keys are replaced.
//
// To add a kind: complete its row in stanzas.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/age_header.hpp"
#include "format/format.hpp"
#include "keys/kdf.hpp"
#include "keys/keyring.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// Tags have 32 bits, so more stanzas with one tag show that someone made them to cost time.
inline constexpr std::size_t max_tagged_stanzas = 16;

// Without a type, no stanza is for keys of that kind alone, and the rest is null.
struct StanzaKind {
  KeyKind key;
  std::string_view type = {};  // its first argument

  // A new stanza for the key. IoError or LaneError if libcrypto fails; UsageError for a recipient of low
  // order.
  Stanza (*wrap)(const Secret& file_key, const Key& key, const StopCheck& check) = nullptr;

  // AuthError unless arguments and body are as the specification requires for the type.
  void (*check)(const Stanza& stanza) = nullptr;

  // For SSH keys, the tag in the second argument of the stanzas for a key; otherwise null. A key is tried
  // with the first max_tagged_stanzas that have its tag.
  std::string (*tag)(const Key& key) = nullptr;

  // Null for recipients whose identities only plugins have. The file key; none if the key does not open the
  // stanza, which has passed check(). AuthError if a shared secret is zero. Asks for the passphrase until one
  // opens the stanza.
  std::optional<Secret> (*unwrap)(const Stanza& stanza, const Key& key,
                                  const SessionRequest& request) = nullptr;
};

const StanzaKind* find_stanza_kind(KeyKind key);            // null if there is none
const StanzaKind* find_stanza_kind(std::string_view type);  // null if the type is unknown

// For an SSH key, the beginning of its fingerprint as ssh-keygen -l prints it: SHA256: and five characters.
// Otherwise empty.
std::string shown_fingerprint(const Stanza& stanza);

inline constexpr unsigned scrypt_r = 8, scrypt_p = 1;

// UsageError if an age file cannot be encrypted with these keys, as far as this is known before plugins are
// run.
void check_new_stanzas(const Keyring& keyring);

// The file key, wrapped for each of the keys. UsageError if the labels of recipients differ; PluginError,
// Cancelled, and the errors of StanzaKind::wrap().
std::vector<Stanza> make_stanzas(const Secret& file_key, const Keyring& keyring, const StopCheck& check);

}  // namespace gpuaes
