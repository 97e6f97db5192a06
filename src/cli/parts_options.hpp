// The command line of gpuaes-parts.
#pragma once

#include "cli/options.hpp"

namespace gpuaes {

// UsageError for unknown commands and options, for options that are missing or conflict, and for malformed
// values.
Parsed<PartsRequest> parse_parts_options(int argc, const char* const* argv);

}  // namespace gpuaes
