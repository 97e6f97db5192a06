// How fuzzers read the header of an input that is in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "format/header_reader.hpp"

namespace gpuaes {

// Takes what it reads from the beginning of `input`.
inline HeaderReader read_from(std::span<const std::byte>& input) {
  return HeaderReader([&input](std::span<std::byte> out) {
    const std::size_t count = std::min(out.size(), input.size());
    std::ranges::copy(input.first(count), out.begin());
    input = input.subspan(count);
    return count;
  });
}

}  // namespace gpuaes
