// Completions for fish.

#include <fmt/format.h>

#include "cli/completion_scripts.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view files_after_at =
    R"x('(string match -q "*@*" -- (commandline -ct) && )x"
    R"x(__fish_complete_path (string replace -r "^[^@]*@" "" -- (commandline -ct)) | string replace -r "^" @)')x";

constexpr std::string_view command_after_dashes =
    R"( -n 'contains -- -- (commandline -opc)' -f -a '(set -l words (commandline -opc) (commandline -ct); )"
    R"(set -e words[1..(contains -i -- -- $words)]; complete -C "$words")')";

std::string argument_of(const OptionText& option) {
  switch (kind_of(option)) {
    case ArgumentKind::nothing:
      return " -x";
    case ArgumentKind::words:
      return fmt::format(" -x -a {}", quote(words_of(option)));
    case ArgumentKind::files:
      return " -r -F";
    case ArgumentKind::files_after_at:
      return fmt::format(" -x -a {}", files_after_at);
  }
  return {};
}

// `complete` begins each line.
std::string option_lines(const std::vector<OptionText>& options, std::string_view complete) {
  std::string text;
  for (const OptionText& option : options) {
    text += complete;
    if (!letter(option.names).empty()) text += fmt::format(" -s {}", letter(option.names));
    text += fmt::format(" -l {}{} -d {}\n", long_name(option.names),
                        option.argument == nullptr ? "" : argument_of(option),
                        quote(first_sentence(option.help)));
  }
  return text;
}

}  // namespace

std::string fish_completions(const CompletedProgram& program) {
  const std::string complete = fmt::format("complete -c {}", program.name);
  std::string text = fmt::format("# Written by: {} --completions fish\n{}{}\n", program.name, complete,
                                 program.takes_files ? command_after_dashes : " -f");
  if (program.commands.empty()) return text + option_lines(program.options, complete);
  const std::string before_command = complete + " -n __fish_use_subcommand";
  text += option_lines(program.options, before_command);
  for (const CompletedCommand& command : program.commands) {
    text +=
        fmt::format("{} -a {} -d {}\n", before_command, command.name, quote(first_sentence(command.help)));
    const std::string after_command =
        fmt::format("{} -n '__fish_seen_subcommand_from {}'", complete, command.name);
    if (command.takes_files) text += after_command + " -F\n";
    text += option_lines(command.options, after_command);
  }
  return text;
}

}  // namespace gpuaes
