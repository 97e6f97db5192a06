// Which options of gpuaes-stream exclude or require each other.
#pragma once

#include "cli/command_line.hpp"
#include "cli/options.hpp"

namespace gpuaes {

// UsageError for options that cannot be used together: no option is silently ignored.
void check_rules(const boost::program_options::variables_map& given, const Options& options);

}  // namespace gpuaes
