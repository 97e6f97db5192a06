#include "run/damage.hpp"

#include <algorithm>
#include <iterator>

namespace gpuaes {

void Damage::add(Range range) {
  const std::lock_guard lock(mutex_);
  auto next = ranges_.upper_bound(range.begin);
  if (next != ranges_.begin() && std::prev(next)->second >= range.begin) --next;
  while (next != ranges_.end() && next->first <= range.end) {
    range = {std::min(range.begin, next->first), std::max(range.end, next->second)};
    next = ranges_.erase(next);
  }
  ranges_.emplace_hint(next, range.begin, range.end);
}

std::vector<Damage::Range> Damage::take_before(std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  std::vector<Range> taken;
  while (!ranges_.empty() && ranges_.begin()->second < end) {
    taken.push_back({ranges_.begin()->first, ranges_.begin()->second});
    ranges_.erase(ranges_.begin());
  }
  return taken;
}

std::vector<Damage::Range> Damage::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<Range> taken;
  for (const auto& [begin, end] : ranges_) taken.push_back({begin, end});
  ranges_.clear();
  return taken;
}

}  // namespace gpuaes
