#include "cli/keygen_options.hpp"

#include <array>

#include "base/error.hpp"
#include "cli/completions.hpp"
#include "cli/option_values.hpp"

namespace gpuaes {
namespace {

using Action = KeygenOptions::Action;

constexpr bool once = false;

template <Action action>
void act(KeygenOptions& options, const std::string&) {
  options.action = action;
}

// To add an option, see options.cpp. If several actions are given, the last one in this list wins.
constexpr auto rows = std::to_array<OptionRow<KeygenOptions>>({
    {"output,o", "FILE", "Write to FILE, which must not exist; only its owner can read it.",
     set_parsed<&KeygenOptions::output, parse_output>},
    {"x25519", nullptr, "Make an identity, and print its recipient.", act<Action::generate_x25519>},
    {"post-quantum", nullptr, "Make a post-quantum identity, and print its recipient.",
     act<Action::generate_post_quantum>},
    {"recipient,y", "FILE", "Print the recipients of the identities in FILE.",
     [](KeygenOptions& options, const std::string& name) {
       options.action = Action::show_recipient;
       options.identity = name;
     }},
    {"completions", "SHELL", "Print completions for SHELL (bash, zsh or fish) and exit.",
     [](KeygenOptions& options, const std::string& name) {
       options.action = Action::completions;
       options.shell = name;
     },
     once, shell_names},
    {"version,V", nullptr, "Print the version and exit.", act<Action::version>},
    {"help,h", nullptr, "Print this help and exit.", act<Action::help>},
});

constexpr auto groups = std::to_array<OptionGroup<KeygenOptions>>({{"Options", rows}});

}  // namespace

KeygenOptions parse_keygen_options(int argc, const char* const* argv) {
  const auto [given, files] =
      parse_command_line(argc, argv, describe(groups), static_cast<std::size_t>(argc));
  if (!files.empty())
    throw UsageError("a file name requires -o or -y",
                     "use -o FILE to write to a file, or -y FILE to print its recipients");
  refuse_together(given, "x25519", "post-quantum");
  refuse_together(given, "recipient", "x25519");
  refuse_together(given, "recipient", "post-quantum");
  refuse_together(given, "recipient", "output");
  return read_options(groups, given);
}

std::string keygen_help_text() {
  return "usage: gpuaes-keygen [--x25519 | --post-quantum] [-o FILE]\n"
         "       gpuaes-keygen -y FILE\n\n"
         "Make a key file for gpuaes-stream, or an identity and its recipient.\n\n" +
         format_options(groups) + "\nSee gpuaes-keygen(1) for details.\n";
}

std::string keygen_completions(std::string_view shell) {
  return completions({.name = "gpuaes-keygen", .options = option_texts(groups)}, shell);
}

}  // namespace gpuaes
