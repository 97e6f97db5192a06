// The stanzas of a new age file, or of one whose keys are replaced.
#pragma once

#include <vector>

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

}  // namespace gpuaes
