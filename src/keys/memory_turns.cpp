#include "keys/memory_turns.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace gpuaes {

MemoryTurns::Turn MemoryTurns::take(std::uint64_t bytes, const StopCheck& check_stop) {
  constexpr std::chrono::milliseconds between_checks(20);
  std::unique_lock lock(mutex_);
  const auto place = waiting_.insert(waiting_.end(), bytes);
  try {
    while (place != waiting_.begin() || !fits(bytes)) {
      changed_.wait_for(lock, between_checks);
      if (check_stop) check_stop();
    }
    taken_.insert(bytes);
  } catch (...) {
    waiting_.erase(place);
    changed_.notify_all();
    throw;
  }
  waiting_.erase(place);
  changed_.notify_all();
  return {*this, bytes};
}

// What was taken may not be in use yet, so it counts in addition to what is.
bool MemoryTurns::fits(std::uint64_t bytes) const {
  if (taken_.empty()) return true;
  const std::uint64_t taken = std::accumulate(taken_.begin(), taken_.end(), std::uint64_t{0});
  const std::uint64_t largest = std::max(*taken_.rbegin(), bytes);
  return largest <= max_extra && taken + bytes - largest <= max_extra && taken + bytes <= free_memory_();
}

void MemoryTurns::end(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  taken_.erase(taken_.find(bytes));
  changed_.notify_all();
}

}  // namespace gpuaes
