// The commands of gpuaes-bench and their arguments.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/report.hpp"
#include "cli/command_line.hpp"

namespace gpuaes {

// The parts between commas. UsageError if one is empty.
std::vector<std::string> parse_list(const std::string& text);

// A number from 1 to 4096. UsageError.
unsigned parse_count(const std::string& text);

// The arguments that a command was called with.
struct Arguments {
  std::vector<std::string> words;  // after the command
  GivenOptions options;
  ReportForm form = ReportForm::text;
  Cancel& cancel;

  std::string option(const std::string& name, const char* by_default) const {
    const auto found = options.find(name);
    return found == options.end() ? by_default : found->second.front();
  }

  // An option whose value is a list; `parse` makes one value of a part. UsageError.
  template <class Parse>
  auto list(const std::string& name, const char* by_default, const Parse& parse) const {
    std::vector<std::decay_t<decltype(parse(std::string()))>> values;
    for (const std::string& part : parse_list(option(name, by_default))) values.push_back(parse(part));
    return values;
  }
};

struct Command {
  const char* name;
  const char* words;  // in the help: "THREADS SIZE [BUFFERS]"
  std::size_t min_words, max_words;
  const char* text;  // in the help
  void (*run)(const Arguments& arguments);
  std::vector<OptionText> options{};
};

// Runs the command that the first word names, or prints the help. UsageError.
void run_command(std::span<const Command> commands, int argc, const char* const* argv);

}  // namespace gpuaes
