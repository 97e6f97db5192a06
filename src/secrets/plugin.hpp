// Wraps and unwraps file keys with age plugins (c2sp.org/age-plugin).
#pragma once

#include <memory>

#include "io/cancel.hpp"
#include "keys/plugin.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// Runs the plugin of a key for each file key, and lets it talk to the user. `messages` and `cancel` must
// outlive the client.
std::shared_ptr<Plugin> make_plugin_client(const Messages& messages, Cancel& cancel);

}  // namespace gpuaes
