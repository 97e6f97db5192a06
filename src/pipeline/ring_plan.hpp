// The ring that a plan asks for, and what lanes have to know of it.
#pragma once

#include "format/format.hpp"
#include "io/source_sink.hpp"
#include "lane/plan.hpp"
#include "pipeline/ring.hpp"

namespace gpuaes {

// Chunks of the plan's size, rounded up to whole units of the session. IoError.
Ring make_ring(const LanePlan& plan, const Session& session);

// What lanes are opened with for it. CUDA lanes pin that memory: outputs too, unless they take the place of
// their inputs.
LaneSetup lane_setup(const Ring& ring, const Source& source, const Session& session);

}  // namespace gpuaes
