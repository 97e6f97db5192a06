// Which option a user meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command_line.hpp"

namespace gpuaes {

// The option that does what `word` does in other programs, or the nearest one that begins like it, or differs
// from it in at most a third of the letters. Empty if no option does.
std::string nearest_option(std::string_view word, std::span<const OptionText> options);

}  // namespace gpuaes
