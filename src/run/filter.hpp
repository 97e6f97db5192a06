// The whole filter, from a request to a finished output.
#pragma once

#include "cli/requests.hpp"
#include "run/endpoints.hpp"
#include "run/open_stream.hpp"
#include "run/report.hpp"
#include "terminal/context.hpp"
#include "terminal/progress.hpp"

namespace gpuaes {

// Encrypts or decrypts as requested. Returns only after all input has been processed and all output has been
// written; otherwise throws an Error or Cancelled.
void run_filter(const FilterRequest& request, const Messages& messages);

// Moves a stream through the pipeline, from its source to its finished sink, and writes the requested
// statistics and trace to the sinks in `endpoints`. The run began at `start`.
void run_stream(const LaneRequest& lanes, Report::Start start, Endpoints& endpoints, OpenStream& stream,
                Progress& progress, const Context& context);

}  // namespace gpuaes
