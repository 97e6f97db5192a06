// A lane that does not stop at a segment whose tag is wrong: its plaintext becomes zeros, and the lane goes
// on behind it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lane/lane.hpp"

namespace gpuaes {

// What of a plaintext is lost, as lanes find it: in any order, from any thread.
class Damage {
 public:
  struct Gap {
    std::uint64_t begin, end;  // bytes of plaintext; as many as none where an empty segment is lost
    bool operator==(const Gap&) const = default;
  };

  // Gaps that touch or overlap become one: a lane may find again what another one found before it failed.
  void add(Gap gap);

  // The gaps that end before byte `end`, in order: to be called when nothing before it can be found any
  // more. They are forgotten here, so that what is kept is bounded by what lanes have under way.
  std::vector<Gap> take_before(std::uint64_t end);

  // The gaps that are left, in order.
  std::vector<Gap> take_all();

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> gaps_;  // end by begin; no two of them touch
};

// Does with `inner` what that can do, one job at a time, and never finds anything wrong. What it made zeros
// of it adds to `damage`, which outlives it, once the whole job is done.
std::unique_ptr<Lane> make_salvage_lane(std::unique_ptr<Lane> inner, Damage& damage);

}  // namespace gpuaes
