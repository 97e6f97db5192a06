#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "bench/benches.hpp"
#include "cli/completions.hpp"
#include "cli/help.hpp"
#include "cli/program.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {
namespace {

constexpr OptionText help_option{"help,h", nullptr, "Print this help and exit."};
constexpr OptionText completions_option{
    "completions", "SHELL", "Print completions for SHELL (bash, zsh or fish) and exit.", shell_names};
constexpr std::array main_options{completions_option, help_option};

// All options of a command, including those that every command has.
std::vector<OptionText> options_of(const Command& command) {
  std::vector<OptionText> options = command.options;
  options.push_back({"csv", nullptr, "Print the results as CSV."});
  options.push_back(help_option);
  return options;
}

std::string synopsis(const Command& command) {
  std::string text = fmt::format("{} [OPTION]...", command.name);
  if (*command.words != '\0') text += fmt::format(" {}", command.words);
  return text;
}

HelpSection options_section(std::span<const OptionText> options) {
  HelpSection section{"Options", {}};
  for (const OptionText& option : options)
    section.rows.push_back({option_term(option.names, option.argument), option.help});
  return section;
}

std::string help_text(std::span<const Command> commands) {
  HelpSection section{"Commands", {}};
  for (const Command& command : commands) section.rows.push_back({synopsis(command), command.text});
  return "usage: gpuaes-bench COMMAND [OPTION]... [ARGUMENT]...\n"
         "       gpuaes-bench COMMAND -h\n"
         "       gpuaes-bench --completions SHELL | -h\n\n"
         "Measure what limits the speed of gpuaes-stream on this machine.\n\n" +
         format_help(std::array{section, options_section(main_options)}, help_columns()) +
         "\nExamples:\n"
         "  Measure how fast 16 threads read a file, 1 MiB at a time:\n"
         "    gpuaes-bench read 16 1M <disk.img\n\n"
         "  Measure the lanes without I/O, with and without a cipher:\n"
         "    gpuaes-bench pipeline -l none:4,cpu:4\n\n"
         "See gpuaes-bench(1) for details.\n";
}

std::string help_text(const Command& command) {
  const HelpSection section = options_section(options_of(command));
  return fmt::format("usage: gpuaes-bench {}\n\n{}\n\n{}\nSee gpuaes-bench(1) for details.\n",
                     synopsis(command), command.text, format_help({&section, 1}, help_columns()));
}

std::string completions(std::span<const Command> commands, std::string_view shell) {
  CompletedProgram program{.name = "gpuaes-bench", .options = {main_options.begin(), main_options.end()}};
  for (const Command& command : commands)
    program.commands.push_back({command.name, command.text, options_of(command)});
  return completions(program, shell);
}

void run(const Command& command, int argc, const char* const* argv) {
  CommandLine line = parse_command_line(argc, argv, options_of(command), {.max = command.max_words});
  if (line.given.contains("help")) return print(help_text(command));
  if (line.positional.size() < command.min_words)
    throw UsageError(fmt::format("{} needs more arguments", command.name),
                     fmt::format("usage: gpuaes-bench {}", synopsis(command)));
  Cancel cancel;
  const ReportForm form = line.given.contains("csv") ? ReportForm::csv : ReportForm::text;
  command.run({std::move(line.positional), line.given, form, cancel});
}

}  // namespace

void run_command(std::span<const Command> commands, int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto found = std::ranges::find(commands, name, &Command::name);
  if (found != commands.end()) return run(*found, argc - 1, argv + 1);
  if (argc == 2 && (name == "-h" || name == "--help")) return print(help_text(commands));
  if (argc == 3 && name == "--completions") return print(completions(commands, argv[2]));
  throw UsageError(name.empty() ? "no command was given" : fmt::format("unknown command '{}'", name),
                   "gpuaes-bench -h lists the commands");
}

unsigned parse_count(const std::string& text) {
  const std::optional<unsigned> number = parse_number<unsigned>(text);
  if (!number || *number == 0 || *number > 4096)
    throw UsageError(fmt::format("'{}' is not a number from 1 to 4096", text));
  return *number;
}

std::vector<std::string> parse_list(const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, ',')) {
    if (part.empty()) throw UsageError(fmt::format("list '{}' has an empty part", text));
    parts.emplace_back(part);
  }
  return parts;
}

}  // namespace gpuaes
