// Completions for bash, zsh and fish, made from the tables of options that also make the help.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"

namespace gpuaes {

// The shells that --completions accepts.
std::vector<std::string_view> shell_names();

// A command of a program, in the style of `git commit`.
struct CompletedCommand {
  const char* name;
  const char* help;
  std::vector<OptionText> options;
  bool takes_files = false;  // as operands
};

struct CompletedProgram {
  std::string_view name;
  std::vector<OptionText> options;
  bool takes_files = false;                  // as operands
  bool runs_command = false;                 // it may follow --
  std::vector<CompletedCommand> commands{};  // one of them is the first operand
};

// A script for the named shell that completes the arguments of the program. An argument shown as FILE
// completes to files, and one shown as RECIPIENT to files after @. UsageError if the shell is unknown.
std::string completions(const CompletedProgram& program, std::string_view shell);

}  // namespace gpuaes
