// Where a run reads, and what it writes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cli/messages.hpp"
#include "cli/options.hpp"
#include "io/fd_source_sink.hpp"
#include "io/source_sink.hpp"
#include "run/secrets.hpp"

namespace gpuaes {

struct Endpoints {
  FdSource source;
  std::unique_ptr<Sink> output;
  std::unique_ptr<Sink> stats, trace;  // where they are asked for
};

// Opens what `options` name, and warns of a wait for a terminal. UsageError where two of them, or a file of
// `secrets`, are the same and must not be; IoError for what cannot be opened, or would destroy what is read.
Endpoints open_endpoints(const Options& options, const Secrets& secrets, const Messages& messages,
                         Cancel& cancel);

// Before anybody wonders why nothing happens.
void say_if_terminal(const FdSource& source, const Messages& messages);

// Bytes of an input whose header has been taken. Files tell how long they are; what --size says is for all
// else.
std::optional<std::uint64_t> expected_size(const Options& options, std::uint64_t header_bytes,
                                           std::optional<std::uint64_t> body_bytes);

}  // namespace gpuaes
