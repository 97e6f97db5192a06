// Stops the program even while its threads are in system calls.
//
// A thread that is blocked in read() or write() cannot check a flag, and making shared descriptors
// non-blocking would break other programs on the same pipe. So a request sets a flag, and the control thread
// (process/control.hpp) repeatedly sends a signal to every thread in a blocking call. The handler is
// installed without SA_RESTART, so the call fails with EINTR and the thread checks the flag. Repetition
// closes the race between checking the flag and making the call.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.hpp"

namespace gpuaes {

class Cancel {
  struct Shard;

 public:
  // Uses SIGURG, which is ignored by default and otherwise sent only for out-of-band data on sockets. The
  // handler belongs to the process, so only one object may exist at a time; otherwise std::logic_error.
  Cancel();
  ~Cancel();
  Cancel(const Cancel&) = delete;
  Cancel& operator=(const Cancel&) = delete;

  // From any thread, but not from a signal handler. `signal` is the signal received, or 0 if a part of the
  // run failed. The first signal counts.
  void request(int signal) noexcept;

  // Withdraws a request with 0, so that another run can follow. No thread of the failed run may be left.
  void withdraw_failure() noexcept;

  // Permits calls again despite a request, for `time` or until the next request. For the last output before
  // the process ends, when only the calling thread is left.
  void allow_for(std::chrono::milliseconds time);

  // The signal that stops the program, or 0.
  int signal() const noexcept { return signal_.load(std::memory_order_relaxed); }

  bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }

  // Throws Cancelled if a stop was requested.
  void check() const {
    if (requested()) throw Cancelled{signal()};
  }

  // Calls `wake` in the thread that makes a request, or immediately if there was one already. `wake` must not
  // throw. An empty `wake` ends the calls; none is running when this returns.
  void on_request(std::function<void()> wake);

  // If a stop was requested, makes current blocking calls fail with EINTR. May miss a call that is just
  // beginning: if this returns true, it must be repeated.
  bool interrupt();

  // While an object exists, the calling thread makes one blocking call, which a request interrupts. The
  // constructor throws Cancelled if a stop was already requested.
  class Blocking {
   public:
    explicit Blocking(Cancel& cancel);
    ~Blocking();
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;

   private:
    Shard& shard_;
  };

 private:
  // Threads in a blocking call; a thread is listed only while it is alive. There are several lists because
  // many lanes contended for a single mutex.
  struct alignas(64) Shard {
    std::mutex mutex;
    std::vector<pthread_t> threads;
  };
  Shard& own_shard();

  std::atomic<bool> requested_{false};  // its release publishes signal_, which is stored before
  std::atomic<int> signal_{0};
  std::mutex mutex_;
  std::function<void()> wake_;
  std::optional<std::chrono::steady_clock::time_point> allowed_until_;
  std::array<Shard, 64> blocking_;
};

}  // namespace gpuaes
