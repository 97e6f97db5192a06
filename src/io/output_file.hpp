// What -o names: a file that appears whole or not at all.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/fd.hpp"

namespace gpuaes {

struct SinkRules {
  bool quiet_pipe;      // as for FdSink
  bool allow_terminal;  // otherwise a terminal is a UsageError: ciphertext would only disturb it
};

// A sink for `name`, or for the standard output. Symbolic links are followed. A regular file, and one that is not
// there yet, is written beside its name, synced, and renamed over it by finish(); a sink that goes without that
// removes what it wrote. An existing file keeps its mode, and its owner where that may be set. Anything else
// (a FIFO, a device) is written in place, and so is the standard output.
// IoError also where the output is the file of `input`.
std::unique_ptr<Sink> open_sink(const std::optional<std::string>& name, const struct stat& input, SinkRules rules,
                                Cancel& cancel);

}  // namespace gpuaes
