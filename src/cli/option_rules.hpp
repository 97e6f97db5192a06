// Which options of gpuaes-stream exclude or require each other.
#pragma once

#include "cli/command_line.hpp"
#include "cli/options.hpp"
#include "cli/stream_options.hpp"

namespace gpuaes {

// UsageError for options, inputs and commands that cannot be used together: none is silently ignored.
void check_rules(const CommandLine& line, const Options& options);

// The rules for a command after --, if there is one. UsageError, also if an option in `refused` is given.
void check_command(const CommandLine& line, const OptionNames& refused);

// UsageError if an input is named both with an option and without one.
void refuse_second_input(const CommandLine& line);

// The rules for options that gpuaes-parts shares. UsageError.
void check_shared_rules(const GivenOptions& given);

}  // namespace gpuaes
