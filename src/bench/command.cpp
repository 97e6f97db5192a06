#include "bench/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "cli/command_line.hpp"
#include "cli/program.hpp"

namespace gpuaes {
namespace {

namespace po = boost::program_options;

po::options_description describe_options(const Command& command) {
  po::options_description options("Options");
  for (const Command::Option& option : command.options)
    options.add_options()(option.name, po::value<std::string>()->value_name(option.value), option.text);
  if (command.reports)
    options.add_options()                //
        ("csv", "print results as CSV")  //
        ("json", "print results as JSON");
  options.add_options()("help,h", "print this");
  return options;
}

std::string call(const Command& command) {
  std::string text = fmt::format("gpuaes-bench {}", command.name);
  if (command.reports) text += " [options]";
  if (*command.words != '\0') text += fmt::format(" {}", command.words);
  return text;
}

std::string help_text(std::span<const Command> commands) {
  std::string text;
  for (const Command& command : commands)
    text += fmt::format("{} {:57} {}\n", text.empty() ? "usage:" : "      ", call(command), command.text);
  return text + "\ngpuaes-bench COMMAND -h lists a command's options. See gpuaes-bench(1).\n";
}

std::string help_text(const Command& command) {
  std::ostringstream text;
  text << "usage: " << call(command) << "\n\n"
       << command.text << "\n\n"
       << describe_options(command) << "\nSee gpuaes-bench(1).\n";
  return text.str();
}

ReportForm parse_form(const po::variables_map& given) {
  if (given.contains("csv") && given.contains("json"))
    throw UsageError("--csv and --json exclude each other");
  return given.contains("csv")    ? ReportForm::csv
         : given.contains("json") ? ReportForm::json
                                  : ReportForm::text;
}

void run(const Command& command, int argc, const char* const* argv) {
  CommandLine line = parse_command_line(argc, argv, describe_options(command), command.max_words);
  if (line.given.contains("help")) return print(help_text(command));
  if (line.words.size() < command.min_words)
    throw UsageError(fmt::format("{} needs more arguments", command.name),
                     fmt::format("usage: {}", call(command)));
  Arguments arguments{.words = std::move(line.words)};
  if (command.reports) arguments.form = parse_form(line.given);
  for (const auto& [name, value] : line.given)
    if (const auto* const text = boost::any_cast<std::string>(&value.value()))
      arguments.options[name] = *text;
  command.run(arguments);
}

}  // namespace

std::optional<std::string> Arguments::option(const std::string& name) const {
  const auto found = options.find(name);
  if (found == options.end()) return std::nullopt;
  return found->second;
}

void run_command(std::span<const Command> commands, int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto found = std::ranges::find(commands, name, &Command::name);
  if (found != commands.end()) return run(*found, argc - 1, argv + 1);
  if (argc == 2 && (name == "-h" || name == "--help")) return print(help_text(commands));
  throw UsageError("the first word is not a command", "gpuaes-bench -h lists the commands");
}

unsigned parse_count(const std::string& text) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end || number == 0 || number > 4096)
    throw UsageError(fmt::format("'{}' is not a number from 1 to 4096", text));
  return number;
}

std::vector<std::string> parse_list(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end == at) throw UsageError(fmt::format("list '{}' has an empty part", text));
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace gpuaes
