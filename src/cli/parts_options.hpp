// The command line of gpuaes-parts.
#pragma once

#include <string>
#include <string_view>

#include "cli/options.hpp"

namespace gpuaes {

struct PartsOptions {
  enum class Action { plan, seal, status, join, completions, help, version };

  Action action = Action::help;
  Options options{};   // of a command
  std::string help{};  // the text that -h prints
};

// UsageError for unknown commands and options, for options that are missing or conflict, and for malformed
// values.
PartsOptions parse_parts_options(int argc, const char* const* argv);

// The script that --completions prints. UsageError if the shell is unknown.
std::string parts_completions(std::string_view shell);

}  // namespace gpuaes
