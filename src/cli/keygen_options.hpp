// The command line of gpuaes-keygen.
#pragma once

#include <optional>
#include <string>

namespace gpuaes {

struct KeygenOptions {
  enum class Action { generate, generate_identity, show_recipient, help, version };

  Action action = Action::generate;
  std::optional<std::string> output;  // without it: standard output
  std::string identity;               // the file of the identity whose recipient is shown
};

// UsageError.
KeygenOptions parse_keygen_options(int argc, const char* const* argv);

// What -h prints.
std::string keygen_help_text();

}  // namespace gpuaes
