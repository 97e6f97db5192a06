// Recipients and identities of age plugins (c2sp.org/age-plugin): age1NAME1... and AGE-PLUGIN-NAME-1... Only
// the plugin NAME knows what their data means, so a key holds the whole text.
#pragma once

#include <string>
#include <string_view>

#include "keys/keyring.hpp"

namespace gpuaes {

// Whether the text begins like one of a plugin. For identities, no early exit: the text may be a raw key.
bool is_plugin_recipient(std::string_view text);
bool is_plugin_identity(std::string_view text);

// Parse such texts. UsageError naming `name` if the name of the plugin or the Bech32 text is not valid.
Key parse_plugin_recipient(std::string_view text, const std::string& name);
Key parse_plugin_identity(std::string_view text, const std::string& name);

// The identity without data of a plugin. UsageError if it is not the name of one.
Key make_plugin_identity(std::string_view plugin);

// The name of the key's plugin: lowercase letters, digits, and -_.+
std::string plugin_name(const Key& key);

}  // namespace gpuaes
