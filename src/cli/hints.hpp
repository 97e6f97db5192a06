// The words of hints, with the options of the programs.
#pragma once

#include <string>

#include "base/error.hpp"

namespace gpuaes {

std::string words_of(const Hint& hint);

}  // namespace gpuaes
