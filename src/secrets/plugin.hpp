// Wraps and unwraps file keys with age plugins (c2sp.org/age-plugin).
#pragma once

#include <memory>
#include <vector>

#include "keys/keyring.hpp"
#include "keys/plugin.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

// Runs the plugin of a key for each file key, and lets it talk to the user. The members of `context`
// must outlive the client.
std::shared_ptr<Plugin> make_plugin_client(const Context& context);

// Gives each plugin key a client.
void add_plugin_clients(std::vector<Key>& keys, const Context& context);

}  // namespace gpuaes
