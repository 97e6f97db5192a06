// What all fuzz targets have in common.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <span>

namespace gpuaes {

// Each target defines this. It fails if it throws an exception, or calls abort().
void fuzz(std::span<const std::byte> input);

inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace gpuaes
