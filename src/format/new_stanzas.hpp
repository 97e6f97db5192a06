// The stanzas of a new age file, or of one whose keys are replaced.
#pragma once

#include <vector>

#include "format/format.hpp"
#include "keys/kdf.hpp"
#include "keys/keyring.hpp"
#include "keys/plugin.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// UsageError if an age file cannot be encrypted with these keys, as far as this is known before plugins are
// run.
void check_new_stanzas(const Keyring& keyring);

// The file key, wrapped for each of the keys. UsageError if the labels of recipients differ; PluginError,
// Cancelled, and the errors of StanzaKind::wrap().
std::vector<Stanza> make_stanzas(const Secret& file_key, const Keyring& keyring, const StopCheck& check);

// Whether a stanza may be for a key. rage adds some that are not, whose types end with "grease".
bool is_for_key(const Stanza& stanza);

// Whether one of the identities, which must be known_openers(), opens an old stanza. It must have passed
// StanzaKind::check() if it is of their kind.
bool opens_any(const Keyring& identities, const Stanza& stanza, const SessionRequest& request);

}  // namespace gpuaes
