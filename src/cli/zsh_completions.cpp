// Completions for zsh.

#include <fmt/format.h>

#include "cli/completion_scripts.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view command_after_dashes = R"(local -i dashes=$words[(i)--]
if ((dashes < CURRENT)); then
    shift dashes words
    ((CURRENT -= dashes))
    _normal
    return
fi
)";

// In a part of an argument that ends with a colon or a bracket.
std::string escape(std::string_view text) {
  std::string result;
  for (const char each : text) {
    if (std::string_view(R"(\:[])").find(each) != std::string_view::npos) result += '\\';
    result += each;
  }
  return result;
}

std::string action_of(const OptionText& option) {
  switch (kind_of(option)) {
    case ArgumentKind::nothing:
      return " ";
    case ArgumentKind::words:
      return fmt::format("({})", escape(words_of(option)));
    case ArgumentKind::files:
      return "_files";
    case ArgumentKind::files_after_at:
      return "{compset -P @ && _files}";
  }
  return {};
}

std::string option_spec(const OptionText& option) {
  const bool has_argument = option.argument != nullptr;
  const std::string name = fmt::format("--{}{}", long_name(option.names), has_argument ? "=" : "");
  std::string text = fmt::format("[{}]", escape(first_sentence(option.help)));
  if (has_argument) text += fmt::format(":{}:{}", escape(option.argument), action_of(option));
  if (letter(option.names).empty())
    return quote(fmt::format("{}{}{}", option.repeats ? "*" : "", name, text));
  const std::string before =
      option.repeats ? "*" : fmt::format("(-{} --{})", letter(option.names), long_name(option.names));
  return fmt::format("{}{{-{}{},{}}}{}", quote(before), letter(option.names), has_argument ? "+" : "", name,
                     quote(text));
}

std::string arguments(const std::vector<OptionText>& options, std::string_view operands,
                      std::string_view indent) {
  std::string text = fmt::format("{}_arguments -s -S", indent);
  for (const OptionText& option : options) text += fmt::format(" \\\n{}    {}", indent, option_spec(option));
  if (!operands.empty()) text += fmt::format(" \\\n{}    {}", indent, quote(operands));
  return text + "\n";
}

}  // namespace

std::string zsh_completions(const CompletedProgram& program) {
  std::string text = fmt::format("#compdef {0}\n# Written by: {0} --completions zsh\n", program.name);
  if (program.takes_files) text += command_after_dashes;
  if (program.commands.empty())
    return text + arguments(program.options, program.takes_files ? "*:FILE:_files" : "", "");
  text += "local -a commands=(\n";
  for (const CompletedCommand& command : program.commands)
    text += fmt::format("    {}\n",
                        quote(fmt::format("{}:{}", command.name, escape(first_sentence(command.help)))));
  text += ")\ncase $((CURRENT > 2)):$words[2] in\n";
  for (const CompletedCommand& command : program.commands)
    text += fmt::format(
        "    1:{})\n        shift words\n        ((CURRENT -= 1))\n{}        ;;\n", command.name,
        arguments(command.options, command.takes_files ? "*:FILE:_files" : "*:ARGUMENT:()", "        "));
  return text + fmt::format("    *)\n{}        ;;\nesac\n",
                            arguments(program.options, "1:COMMAND:{_describe -t commands COMMAND commands}",
                                      "        "));
}

}  // namespace gpuaes
