// A lane that does not stop at a segment whose tag is wrong: its plaintext becomes zeros, and the lane goes
// on behind it.
#pragma once

#include <memory>

#include "lane/lane.hpp"
#include "run/damage.hpp"

namespace gpuaes {

// Does with `inner` what that can do, one job at a time, and never finds anything wrong. What it made zeros
// of it adds to `damage`, which outlives it, once the whole job is done.
std::unique_ptr<Lane> make_salvage_lane(std::unique_ptr<Lane> inner, Damage& damage);

}  // namespace gpuaes
