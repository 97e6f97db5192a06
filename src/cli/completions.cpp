#include "cli/completions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"

namespace gpuaes {
namespace {

// The script's text for each kind of argument.
struct Completion {
  std::string nothing, words, file, file_after_at;
};

std::string choose(const OptionText& option, const Completion& completion) {
  const std::string_view argument = option.argument;
  if (option.words != nullptr) return completion.words;
  if (argument == "FILE" || argument == "DIR" || argument == "LIST") return completion.file;
  return argument == "RECIPIENT" ? completion.file_after_at : completion.nothing;
}

// The words that the argument can be, separated by spaces.
std::string words_of(const OptionText& option) {
  return option.words != nullptr ? fmt::format("{}", fmt::join(option.words(), " ")) : "";
}

// In single quotes, as all three shells accept them.
std::string quote(std::string_view text) {
  std::string quoted;
  for (const char each : text)
    if (each == '\'')
      quoted += R"('\'')";
    else
      quoted += each;
  return fmt::format("'{}'", quoted);
}

// bash --------------------------------------------------------------------------------------------

// If the function returns early, readline completes files.
constexpr std::string_view bash_begin = R"(# Written by: {} --completions bash
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

constexpr std::string_view bash_command = R"(    local i
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
constexpr std::string_view bash_files_after_at = R"( | @ | =@)
            compopt +o default
            [[ $cur != @* ]] || mapfile -t COMPREPLY < <(compgen -P @ -f -- "${cur:1}")
            return
            ;;
)";

constexpr std::string_view bash_end = R"(    compopt +o default
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$before$cur")
    COMPREPLY=("${{COMPREPLY[@]#"$before"}}")
}}
complete -o default -F {} {}
)";

// `others` are offered along with the options.
std::string bash_words(const std::vector<OptionText>& options, std::string others, bool takes_files,
                       std::string_view indent) {
  std::string cases;
  for (const OptionText& option : options) {
    others.append(others.empty() ? "--" : " --").append(long_name(option.names));
    if (option.argument == nullptr) continue;
    const std::string short_name =
        letter(option.names).empty() ? "" : fmt::format("-{} | ", letter(option.names));
    cases += fmt::format("{}    {}--{}{}", indent, short_name, long_name(option.names),
                         choose(option, {.nothing = ") words= ;;\n",
                                         .words = fmt::format(") words={} ;;\n", quote(words_of(option))),
                                         .file = ") return ;;\n",
                                         .file_after_at = std::string(bash_files_after_at)}));
  }
  if (takes_files) cases += fmt::format("{}    *) [[ $cur == -* ]] || return ;;\n", indent);
  std::string text = fmt::format("{}words={}\n", indent, quote(others));
  if (!cases.empty()) text += fmt::format("{0}case $prev in\n{1}{0}esac\n", indent, cases);
  return text;
}

std::string bash_completions(const CompletedProgram& program) {
  std::string function = fmt::format("_{}", program.name);
  std::ranges::replace(function, '-', '_');
  std::string text = fmt::format(bash_begin, program.name, function);
  if (program.runs_command) text += bash_command;
  if (program.commands.empty()) {
    text += bash_words(program.options, "", program.takes_files, "    ");
  } else {
    text += "    case $((COMP_CWORD > 1)):${COMP_WORDS[1]} in\n";
    std::string names;
    for (const CompletedCommand& command : program.commands) {
      names.append(names.empty() ? "" : " ").append(command.name);
      text += fmt::format("        1:{})\n{}            ;;\n", command.name,
                          bash_words(command.options, "", command.takes_files, "            "));
    }
    text += fmt::format("        *)\n{}            ;;\n    esac\n",
                        bash_words(program.options, names, false, "            "));
  }
  return text + fmt::format(bash_end, function, program.name);
}

// zsh ---------------------------------------------------------------------------------------------

constexpr std::string_view zsh_command = R"(local -i dashes=$words[(i)--]
if ((dashes < CURRENT)); then
    shift dashes words
    ((CURRENT -= dashes))
    _normal
    return
fi
)";

// In a part of an argument that ends with a colon or a bracket.
std::string zsh_escape(std::string_view text) {
  std::string result;
  for (const char each : text) {
    if (std::string_view(R"(\:[])").find(each) != std::string_view::npos) result += '\\';
    result += each;
  }
  return result;
}

std::string zsh_option(const OptionText& option) {
  const bool has_argument = option.argument != nullptr;
  const std::string name = fmt::format("--{}{}", long_name(option.names), has_argument ? "=" : "");
  std::string text = fmt::format("[{}]", zsh_escape(first_sentence(option.help)));
  if (has_argument)
    text += fmt::format(":{}:{}", zsh_escape(option.argument),
                        choose(option, {.nothing = " ",
                                        .words = fmt::format("({})", zsh_escape(words_of(option))),
                                        .file = "_files",
                                        .file_after_at = "{compset -P @ && _files}"}));
  if (letter(option.names).empty())
    return quote(fmt::format("{}{}{}", option.repeats ? "*" : "", name, text));
  const std::string before =
      option.repeats ? "*" : fmt::format("(-{} --{})", letter(option.names), long_name(option.names));
  return fmt::format("{}{{-{}{},{}}}{}", quote(before), letter(option.names), has_argument ? "+" : "", name,
                     quote(text));
}

std::string zsh_arguments(const std::vector<OptionText>& options, std::string_view operands,
                          std::string_view indent) {
  std::string text = fmt::format("{}_arguments -s -S", indent);
  for (const OptionText& option : options) text += fmt::format(" \\\n{}    {}", indent, zsh_option(option));
  if (!operands.empty()) text += fmt::format(" \\\n{}    {}", indent, quote(operands));
  return text + "\n";
}

std::string zsh_completions(const CompletedProgram& program) {
  std::string text = fmt::format("#compdef {0}\n# Written by: {0} --completions zsh\n", program.name);
  if (program.runs_command) text += zsh_command;
  if (program.commands.empty())
    return text + zsh_arguments(program.options, program.takes_files ? "*:FILE:_files" : "", "");
  text += "local -a commands=(\n";
  for (const CompletedCommand& command : program.commands)
    text += fmt::format("    {}\n",
                        quote(fmt::format("{}:{}", command.name, zsh_escape(first_sentence(command.help)))));
  text += ")\ncase $((CURRENT > 2)):$words[2] in\n";
  for (const CompletedCommand& command : program.commands)
    text += fmt::format(
        "    1:{})\n        shift words\n        ((CURRENT -= 1))\n{}        ;;\n", command.name,
        zsh_arguments(command.options, command.takes_files ? "*:FILE:_files" : "*:ARGUMENT:()", "        "));
  return text + fmt::format("    *)\n{}        ;;\nesac\n",
                            zsh_arguments(program.options,
                                          "1:COMMAND:{_describe -t commands COMMAND commands}", "        "));
}

// fish --------------------------------------------------------------------------------------------

constexpr std::string_view fish_files_after_at =
    R"x('(string match -q "*@*" -- (commandline -ct) && )x"
    R"x(__fish_complete_path (string replace -r "^[^@]*@" "" -- (commandline -ct)) | string replace -r "^" @)')x";

constexpr std::string_view fish_command =
    R"( -n 'contains -- -- (commandline -opc)' -f -a '(set -l words (commandline -opc) (commandline -ct); )"
    R"(set -e words[1..(contains -i -- -- $words)]; complete -C "$words")')";

// `complete` begins each line.
std::string fish_options(const std::vector<OptionText>& options, std::string_view complete) {
  std::string text;
  for (const OptionText& option : options) {
    text += complete;
    if (!letter(option.names).empty()) text += fmt::format(" -s {}", letter(option.names));
    text += fmt::format(" -l {}", long_name(option.names));
    if (option.argument != nullptr)
      text += choose(option, {.nothing = " -x",
                              .words = fmt::format(" -x -a {}", quote(words_of(option))),
                              .file = " -r -F",
                              .file_after_at = fmt::format(" -x -a {}", fish_files_after_at)});
    text += fmt::format(" -d {}\n", quote(first_sentence(option.help)));
  }
  return text;
}

std::string fish_completions(const CompletedProgram& program) {
  const std::string complete = fmt::format("complete -c {}", program.name);
  std::string text = fmt::format("# Written by: {} --completions fish\n", program.name);
  if (!program.takes_files) text += fmt::format("{} -f\n", complete);
  if (program.runs_command) text += fmt::format("{}{}\n", complete, fish_command);
  if (program.commands.empty()) return text + fish_options(program.options, complete);
  const std::string before_command = complete + " -n __fish_use_subcommand";
  text += fish_options(program.options, before_command);
  for (const CompletedCommand& command : program.commands) {
    text +=
        fmt::format("{} -a {} -d {}\n", before_command, command.name, quote(first_sentence(command.help)));
    const std::string after_command =
        fmt::format("{} -n '__fish_seen_subcommand_from {}'", complete, command.name);
    if (command.takes_files) text += after_command + " -F\n";
    text += fish_options(command.options, after_command);
  }
  return text;
}

struct Shell {
  std::string_view name;
  std::string (*completions)(const CompletedProgram& program);
};

// To add a shell: add its row here, and install what it prints in CMakeLists.txt.
constexpr std::array shells{
    Shell{"bash", bash_completions},
    Shell{"zsh", zsh_completions},
    Shell{"fish", fish_completions},
};

}  // namespace

std::vector<std::string_view> shell_names() {
  return names_of(shells);
}

std::string completions(const CompletedProgram& program, std::string_view shell) {
  const auto found = std::ranges::find(shells, shell, &Shell::name);
  if (found != shells.end()) return found->completions(program);
  throw UsageError(fmt::format("unknown shell '{}'", shell),
                   fmt::format("the shells are {}", join(shell_names())));
}

}  // namespace gpuaes
