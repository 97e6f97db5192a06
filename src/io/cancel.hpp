// How the program is stopped while its threads sit in system calls.
//
// A thread that blocks in read() or write() sees no flag, and making shared descriptors non-blocking would
// break the next program on the same pipe. So a request sets the flag, and then the control thread
// (io/control.hpp) sends a signal without SA_RESTART to every thread that is in a blocking call, again and
// again: the call ends with EINTR and the thread looks at the flag. The repetition closes the race between a
// thread's look at the flag and its call.
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
  struct Share;

 public:
  Cancel();  // takes SIGURG for its own: ignored by default, sent by nothing but out-of-band data on sockets
  ~Cancel();
  Cancel(const Cancel&) = delete;
  Cancel& operator=(const Cancel&) = delete;

  // From any thread, but not from a signal handler. The first request stands. `signal`: what the user sent,
  // or 0.
  void request(int signal) noexcept;

  // Whatever was requested: calls may be made from now on, for so long or until the next request. For what is
  // to be written on the way out, when only the calling thread is left.
  void allow_for(std::chrono::milliseconds time);

  bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }

  // Throws Cancelled once a stop was requested.
  void check() const {
    if (requested()) throw Cancelled{signal_.load(std::memory_order_relaxed)};
  }

  // Calls `wake` upon the request, in the thread that makes it, or at once if it was made already. Empty: no
  // more, and nobody is in it when this returns. It must not throw.
  void on_request(std::function<void()> wake);

  // Ends, with EINTR, what blocking calls there are. One that is about to begin is ended by the next
  // time.
  void interrupt();

  // From here to the end of the scope the calling thread makes one blocking call, which a request interrupts.
  // Throws Cancelled if that came first.
  class Blocking {
   public:
    explicit Blocking(Cancel& cancel);
    ~Blocking();
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;

   private:
    Share& share_;
  };

 private:
  // Threads that are in a blocking call; a thread is in here only while it is alive. In shares by thread:
  // with one mutex for all of them 64 lanes made 31 GB/s of chunks of 256 KiB, waiting for it.
  struct alignas(64) Share {
    std::mutex mutex;
    std::vector<pthread_t> threads;
  };
  Share& own_share();

  std::atomic<bool> requested_{false};
  std::atomic<int> signal_{0};
  std::mutex mutex_;
  std::function<void()> wake_;
  std::optional<std::chrono::steady_clock::time_point> allowed_until_;
  std::array<Share, 64> blocking_;
};

}  // namespace gpuaes
