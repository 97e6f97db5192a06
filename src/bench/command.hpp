// The commands of gpuaes-bench and their arguments.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "cli/command_line.hpp"

namespace gpuaes {

// The arguments that a command was called with.
struct Arguments {
  std::vector<std::string> words;              // after the command
  std::map<std::string, std::string> options;  // by long name
  ReportForm form = ReportForm::text;

  // Empty if the option was not given.
  std::optional<std::string> option(const std::string& name) const;
};

struct Command {
  using Option = OptionText;

  const char* name;
  const char* words;  // in the help: "THREADS SIZE [BUFFERS]"
  std::size_t min_words, max_words;
  const char* text;  // in the help
  void (*run)(const Arguments& arguments);
  bool reports = true;  // has --csv and --json
  std::vector<Option> options{};
};

// Runs the command that the first word names, or prints the help. UsageError.
void run_command(std::span<const Command> commands, int argc, const char* const* argv);

// A number from 1 to 4096. UsageError.
unsigned parse_count(const std::string& text);

// The parts between commas. UsageError if one is empty.
std::vector<std::string> parse_list(const std::string& text);

}  // namespace gpuaes
