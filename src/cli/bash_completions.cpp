// Completions for bash.

#include <fmt/format.h>

#include <algorithm>

#include "cli/completion_scripts.hpp"

namespace gpuaes {
namespace {

// If the function returns early, readline completes files.
constexpr std::string_view begin = R"(# Written by: {} --completions bash
{}() {{
    local cur=$2 prev=$3 words at=$COMP_CWORD before=
    # bash splits --option=value and auto:low-cpu into three words, and <file into two.
    [[ ${{COMP_WORDS[at]}} != : ]] || ((++at))
    if ((at > 2)) && [[ ${{COMP_WORDS[at - 1]}} == : ]]; then
        before=${{COMP_WORDS[at - 2]}}:
        ((at -= 2))
        prev=${{COMP_WORDS[at - 1]}}
    fi
    [[ $prev != = ]] || prev=${{COMP_WORDS[at - 2]}}
    [[ ${{COMP_WORDS[COMP_CWORD]}} != [\<\>]* && $prev != [\<\>]* ]] || return
)";

constexpr std::string_view command_after_dashes = R"(    local i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        [[ ${COMP_WORDS[i]} == -- ]] || continue
        if declare -F _comp_command_offset >/dev/null; then
            _comp_command_offset $((i + 1))
        elif declare -F _command_offset >/dev/null; then
            _command_offset $((i + 1))
        elif ((i + 1 == COMP_CWORD)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$cur")
        fi
        return
    done
)";

// @file is two words if bash completes host names after @, but `cur` is always all of it.
constexpr std::string_view files_after_at = R"( | @ | =@)
            compopt +o default
            [[ $cur != @* ]] || mapfile -t COMPREPLY < <(compgen -P @ -f -- "${cur:1}")
            return
            ;;
)";

constexpr std::string_view end = R"(    compopt +o default
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$before$cur")
    COMPREPLY=("${{COMPREPLY[@]#"$before"}}")
}}
complete -o default -F {} {}
)";

std::string action_of(const OptionText& option) {
  switch (kind_of(option)) {
    case ArgumentKind::nothing:
      return ") words= ;;\n";
    case ArgumentKind::words:
      return fmt::format(") words={} ;;\n", quote(words_of(option)));
    case ArgumentKind::files:
      return ") return ;;\n";
    case ArgumentKind::files_after_at:
      return std::string(files_after_at);
  }
  return {};
}

// `others` are offered along with the options.
std::string set_words(const std::vector<OptionText>& options, std::string others, bool takes_files,
                      std::string_view indent) {
  std::string cases;
  for (const OptionText& option : options) {
    others.append(others.empty() ? "--" : " --").append(long_name(option.names));
    if (option.argument == nullptr) continue;
    const std::string short_name =
        letter(option.names).empty() ? "" : fmt::format("-{} | ", letter(option.names));
    cases += fmt::format("{}    {}--{}{}", indent, short_name, long_name(option.names), action_of(option));
  }
  if (takes_files) cases += fmt::format("{}    *) [[ $cur == -* ]] || return ;;\n", indent);
  std::string text = fmt::format("{}words={}\n", indent, quote(others));
  if (!cases.empty()) text += fmt::format("{0}case $prev in\n{1}{0}esac\n", indent, cases);
  return text;
}

}  // namespace

std::string bash_completions(const CompletedProgram& program) {
  std::string function = fmt::format("_{}", program.name);
  std::ranges::replace(function, '-', '_');
  std::string text = fmt::format(begin, program.name, function);
  if (program.takes_files) text += command_after_dashes;
  if (program.commands.empty()) {
    text += set_words(program.options, "", program.takes_files, "    ");
  } else {
    text += "    case $((COMP_CWORD > 1)):${COMP_WORDS[1]} in\n";
    std::string names;
    for (const CompletedCommand& command : program.commands) {
      names.append(names.empty() ? "" : " ").append(command.name);
      text += fmt::format("        1:{})\n{}            ;;\n", command.name,
                          set_words(command.options, "", command.takes_files, "            "));
    }
    text += fmt::format("        *)\n{}            ;;\n    esac\n",
                        set_words(program.options, names, false, "            "));
  }
  return text + fmt::format(end, function, program.name);
}

}  // namespace gpuaes
