// The terminal that controls the process, for what a user types: standard input and output are busy with
// other things.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "io/cancel.hpp"

namespace gpuaes {

// Writes `prompt` to /dev/tty and reads a line from there, without echo: how many bytes, without the line
// feed. What is beyond `out` is lost. IoError where there is no terminal.
std::size_t ask_hidden(std::string_view prompt, std::span<std::byte> out, Cancel& cancel);

}  // namespace gpuaes
