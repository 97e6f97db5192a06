#include "cli/keygen_options.hpp"

#include <array>
#include <sstream>

#include "cli/command_line.hpp"
#include "cli/option_values.hpp"

namespace gpuaes {
namespace {

using Action = KeygenOptions::Action;

template <Action action>
void act(KeygenOptions& options, const std::string&) {
  options.action = action;
}

// To add an option, see options.cpp. If several actions are given, the last one in this list wins.
constexpr auto rows = std::to_array<OptionRow<KeygenOptions>>({
    {"output,o", "FILE", "write FILE, which must not be there yet, for its owner alone to read",
     set_parsed<&KeygenOptions::output, parse_output>},
    {"x25519", nullptr, "make an identity, and print its recipient", act<Action::generate_identity>},
    {"recipient,y", "FILE", "print the recipient of the identity in FILE",
     [](KeygenOptions& options, const std::string& name) {
       options.action = Action::show_recipient;
       options.identity = name;
     }},
    {"version,V", nullptr, "print the version", act<Action::version>},
    {"help,h", nullptr, "print this", act<Action::help>},
});

}  // namespace

KeygenOptions parse_keygen_options(int argc, const char* const* argv) {
  const auto given = parse_command_line(argc, argv, describe(rows)).given;
  refuse_together(given, "recipient", "x25519");
  refuse_together(given, "recipient", "output");
  return read_options(rows, given);
}

std::string keygen_help_text() {
  std::ostringstream text;
  text << "usage: gpuaes-keygen [--x25519] [-o FILE]\n"
       << "       gpuaes-keygen -y FILE\n\n"
       << describe(rows) << "\ngpuaes-keygen(1) tells more.\n";
  return text.str();
}

}  // namespace gpuaes
