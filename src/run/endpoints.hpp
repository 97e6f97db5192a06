// Where a run reads, and everything that it writes.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <vector>

#include "cli/messages.hpp"
#include "cli/options.hpp"
#include "format/header_reader.hpp"
#include "io/fd_source_sink.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

struct Endpoints {
  FdSource source;
  std::unique_ptr<Sink> output;
  std::unique_ptr<Sink> stats, trace;  // if asked for
};

// Opens what `options` name, and says if the input is a terminal. No output may be one of the files that
// secrets came from. UsageError and IoError as refuse_output_conflicts(); UsageError for an input that
// --range cannot jump in, and for ciphertext to a terminal; IoError for a file that cannot be opened or
// replaced.
Endpoints open_endpoints(const Options& options, std::vector<struct stat> secret_files,
                         const Messages& messages, Cancel& cancel);

// Reads the header that `source` begins with; `source` outlives the reader.
HeaderReader header_reader(FdSource& source);

// So that the user knows what the program waits for.
void say_if_terminal(const FdSource& source, const Messages& messages);

}  // namespace gpuaes
