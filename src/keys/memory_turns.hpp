// Limits the memory that concurrent key derivations use in total.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <set>
#include <utility>

namespace gpuaes {

// Slow derivations call it repeatedly, unless it is empty, and let its exceptions propagate.
using StopCheck = std::function<void()>;

// Threads take turns, each for some memory, first come, first served. A turn begins if it is the only one, or
// if the largest takes at most `max_extra` bytes, and so do all others together, and there is free memory for
// all. So a derivation that needs more memory runs alone.
class MemoryTurns {
 public:
  static constexpr std::uint64_t max_extra = 264 << 20;  // for two sealed files, or for one age file

  // `free_memory` returns the number of bytes that the process may still allocate.
  explicit MemoryTurns(std::function<std::uint64_t()> free_memory) : free_memory_(std::move(free_memory)) {}

  // Ends when it is destroyed.
  class Turn {
   public:
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), bytes_(other.bytes_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_ != nullptr) turns_->end(bytes_);
    }

   private:
    friend class MemoryTurns;
    Turn(MemoryTurns& turns, std::uint64_t bytes) : turns_(&turns), bytes_(bytes) {}

    MemoryTurns* turns_;
    std::uint64_t bytes_;
  };

  // Waits for the turn.
  Turn take(std::uint64_t bytes, const StopCheck& check_stop);

 private:
  bool fits(std::uint64_t bytes) const;
  void end(std::uint64_t bytes) noexcept;

  const std::function<std::uint64_t()> free_memory_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::multiset<std::uint64_t> taken_;
  std::list<std::uint64_t> waiting_;  // the first is the next
};

}  // namespace gpuaes
