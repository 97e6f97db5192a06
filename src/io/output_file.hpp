// What -o names: a file that appears whole or not at all.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/fd.hpp"

namespace gpuaes {

struct SinkRules {
  bool allow_terminal = true;  // otherwise a terminal is a UsageError: ciphertext would only disturb it
  std::span<const struct stat> in_use;  // files that are read: to write one of them is an IoError
};

// A sink for `name`, or for the standard output. Symbolic links are followed. A regular file, and one that is
// not there yet, is written beside its name, synced, and renamed over it by finish(); a sink that goes
// without that removes what it wrote. An existing file keeps its mode, and its owner where that may be set.
// Anything else (a FIFO, a device) is written in place, and so is the standard output.
std::unique_ptr<Sink> open_sink(const std::optional<std::string>& name, const SinkRules& rules,
                                Cancel& cancel);

// Whether both names mean one file that would be replaced as a whole, so that one output would be lost.
bool is_same_output(const std::string& a, const std::string& b);

}  // namespace gpuaes
