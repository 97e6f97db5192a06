// The whole filter, from a request to a finished output.
#pragma once

#include <mutex>

#include "cli/requests.hpp"
#include "keys/keyring.hpp"
#include "run/endpoints.hpp"
#include "run/open_stream.hpp"
#include "run/report.hpp"
#include "terminal/context.hpp"
#include "terminal/progress.hpp"

namespace gpuaes {

// Encrypts or decrypts as requested. Returns only after all input has been processed and all output has been
// written; otherwise throws an Error or Cancelled.
void run_filter(const FilterRequest& request, const Messages& messages);

// What the inputs of a run share: its secrets and lanes.
class Filter {
 public:
  // Reads the secrets, with the same errors as run_filter().
  Filter(const FilterRequest& request, Progress& progress, const Context& context);

  // Encrypts, decrypts or verifies an input whose ends are open. Unless it is alone, the calling thread does
  // all of the work.
  void run(const InputRequest& input, Endpoints& endpoints, Reports reports, const Context& context,
           bool alone);

  const Keyring& keyring() const { return keyring_; }

 private:
  const FilterRequest& request_;
  Progress& progress_;
  const Context& context_;
  LaneRequest lanes_;
  Keyring keyring_;
  std::once_flag noted_;
};

// Moves a stream through the pipeline, from its source to its finished sink, and writes the requested
// reports.
void run_stream(const LaneRequest& lanes, Reports reports, OpenStream& stream, Progress& progress,
                const Context& context);

}  // namespace gpuaes
