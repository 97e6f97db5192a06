// The files PREFIX.head and PREFIX.index, which join --ends writes.
#pragma once

#include <sys/stat.h>

#include <vector>

#include "cli/messages.hpp"
#include "cli/options.hpp"
#include "format/parts.hpp"
#include "io/cancel.hpp"

namespace gpuaes {

struct Ends {
  FrameSecret secret;
  std::vector<IndexEntry> index;
};

// Reads the ends that `options` name, with the secrets or the job file that they name. AuthError if an end is
// damaged or the two do not belong together; KeyError if no secret opens the header; IoError, UsageError.
Ends read_ends(const Options& options, const Messages& messages, Cancel& cancel);

}  // namespace gpuaes
