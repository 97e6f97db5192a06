#pragma once

#include <cstddef>
#include <span>

namespace gpuaes {

// Fills `out` from the system's random number generator. IoError if the system fails.
void fill_random(std::span<std::byte> out);

}  // namespace gpuaes
