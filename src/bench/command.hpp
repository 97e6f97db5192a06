// The commands of gpuaes-bench: how each is called, and what it does.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/report.hpp"

namespace gpuaes {

// What a command was called with.
struct Arguments {
  std::vector<std::string> words;              // after its name
  std::map<std::string, std::string> options;  // by their long names
  ReportForm form = ReportForm::text;

  // Empty if it was not given.
  std::optional<std::string> option(const std::string& name) const;
};

struct Command {
  struct Option {
    const char* name;   // as Boost.Program_options takes it: "lanes,l"
    const char* value;  // what it takes, for the help: "SPEC"; nullptr for an option that takes none
    const char* text;   // for the help
  };

  const char* name;
  const char* words;  // for the help: "THREADS SIZE [BUFFERS]"
  std::size_t min_words, max_words;
  const char* text;  // for the help, a line
  void (*run)(const Arguments& arguments);
  bool reports = true;            // so it has --csv and --json
  std::vector<Option> options{};  // and these
};

// Finds the command that the first word names, and runs it; or prints the help. UsageError.
void run_command(std::span<const Command> commands, int argc, const char* const* argv);

// A number from 1 to 4096. UsageError.
unsigned parse_count(const std::string& text);

// The parts between commas, none of them empty. UsageError.
std::vector<std::string> parse_list(const std::string& text);

}  // namespace gpuaes
