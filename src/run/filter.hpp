// The whole filter, from a request to a finished output.
#pragma once

#include <mutex>

#include "cli/requests.hpp"
#include "files/conflicts.hpp"
#include "keys/keyring.hpp"
#include "run/endpoints.hpp"
#include "run/inputs.hpp"
#include "run/open_stream.hpp"
#include "run/report.hpp"
#include "terminal/context.hpp"
#include "terminal/progress.hpp"

namespace gpuaes {

// Encrypts or decrypts as requested. Returns only after all input has been processed and all output has been
// written; otherwise throws an Error or Cancelled.
void run_filter(const FilterRequest& request, const Messages& messages);

// Encrypts, decrypts or verifies each input.
class FilterRun : public InputRun {
 public:
  // Reads the secrets, with the same errors as run_filter().
  FilterRun(const FilterRequest& request, Progress& progress, const Context& context);

  InputResult run(const InputRequest& input, const Context& context, bool alone) override;

 protected:
  // Does the work once the ends are open. Unless the input is alone, the calling thread does all of it.
  void run_opened(const InputRequest& input, Endpoints& endpoints, Reports reports, const Context& context,
                  bool alone);

  const FilterRequest& request_;
  Progress& progress_;
  const Context& context_;
  OutputTargets targets_;  // those that options name
  Keyring keyring_;

 private:
  LaneRequest lanes_;
  std::once_flag noted_;
};

// Moves a stream through the pipeline, from its source to its finished sink, and writes the requested
// reports.
void run_stream(const LaneRequest& lanes, Reports reports, OpenStream& stream, Progress& progress,
                const Context& context);

}  // namespace gpuaes
