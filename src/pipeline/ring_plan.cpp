#include "pipeline/ring_plan.hpp"

#include <algorithm>

namespace gpuaes {

Ring make_ring(const LanePlan& plan, const Session& session) {
  const std::size_t plain = std::min(session.unit_in(), session.unit_out());
  const std::size_t units = (plan.chunk_bytes + plain - 1) / plain;
  return Ring(plan.chunks, units * session.unit_in(), units * session.unit_out());
}

LaneSetup lane_setup(const Ring& ring, const Source& source, const Session& session) {
  return {.memory = source.shared_size() > 0 ? ring.in_memory() : ring.memory(),
          .max_in = ring.in_bytes(),
          .max_out = session.in_place() ? 0 : ring.out_bytes(),
          .cipher = session.cipher()};
}

}  // namespace gpuaes
