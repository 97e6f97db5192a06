// Does the same for many files, several at once, since each may take a while on a network file system.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace gpuaes {

inline constexpr std::size_t files_at_once = 16;

// Calls `action(i)` for each i below `count`, from several threads. Throws the exception of the smallest i,
// if there is one.
template <class Action>
void for_each_at_once(std::size_t count, const Action& action) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t failed = count;
  std::exception_ptr error;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) try {
        action(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed) failed = i, error = std::current_exception();
        next = count;
      }
  };
  {
    std::vector<std::jthread> threads;
    try {
      while (threads.size() + 1 < std::min(files_at_once, count)) threads.emplace_back(work);
    } catch (const std::system_error&) {  // fewer threads do the work, too
    }
    work();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace gpuaes
