// A lane that continues past segments whose tag is wrong, with zeros as their plaintext.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "lane/lane.hpp"

namespace gpuaes {

// The lost ranges of a plaintext, and its end, which lanes find in any order and on any thread.
class Damage {
 public:
  // A full segment that is marked as the last one ends here: offsets in the plaintext and in the input.
  struct End {
    std::uint64_t plaintext, input;
  };
  struct Gap {
    std::uint64_t begin, end;    // bytes of plaintext; equal if an empty segment is lost
    std::uint64_t input_offset;  // of the damage, in the input
    bool at_end = false;         // whether it contains a short segment, which ends a message
    bool operator==(const Gap&) const = default;
  };

  void add_verified() { any_verified_ = true; }
  bool any_verified() const { return any_verified_; }  // whether the tag of any segment was right

  void set_end(End end);
  std::optional<End> end() const;

  // Merges gaps that touch or overlap: a lane may find a gap that another lane found before it failed.
  void add(Gap gap);

  // Removes and returns the gaps that end before byte `end`, in order. Call it once no lane can find another
  // gap before `end`. This keeps the number of gaps in memory bounded by the work in progress.
  std::vector<Gap> take_before(std::uint64_t end);

  // Removes and returns the remaining gaps, in order.
  std::vector<Gap> take_all();

 private:
  std::atomic<bool> any_verified_ = false;
  mutable std::mutex mutex_;
  std::optional<End> end_;
  std::map<std::uint64_t, Gap> gaps_;  // by their beginnings; no two touch
};

// Runs jobs on `inner`, one at a time, and never reports a bad segment. After each job, adds the ranges
// filled with zeros to `damage`, which must outlive the lane.
std::unique_ptr<Lane> make_salvage_lane(std::unique_ptr<Lane> inner, Damage& damage);

}  // namespace gpuaes
