// The command line of gpuaes-keygen.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpuaes {

struct KeygenOptions {
  enum class Action {
    generate,
    generate_x25519,
    generate_post_quantum,
    show_recipient,
    completions,
    help,
    version
  };

  Action action = Action::generate;
  std::optional<std::string> output;  // standard output if not set
  std::string identity;               // the identity file whose recipient is printed
  std::string shell;                  // of --completions
};

// Throws UsageError.
KeygenOptions parse_keygen_options(int argc, const char* const* argv);

// The text that -h prints.
std::string keygen_help_text();

// The script that --completions prints. UsageError if the shell is unknown.
std::string keygen_completions(std::string_view shell);

}  // namespace gpuaes
