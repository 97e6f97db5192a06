// How the program is stopped while its threads sit in system calls.
//
// A thread that blocks in read() or write() sees no flag, and making shared descriptors non-blocking would
// break the next program on the same pipe. So a request sets the flag and then sends a signal without
// SA_RESTART to every thread that is in a blocking call, again and again: the call ends with EINTR and the
// thread looks at the flag. The repetition closes the race between a thread's look at the flag and its call.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "error.hpp"

namespace gpuaes {

class Cancel {
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

  // From here to the end of the scope the calling thread makes one blocking call, which a request interrupts.
  // Throws Cancelled if that came first.
  class Blocking {
   public:
    explicit Blocking(Cancel& cancel);
    ~Blocking();
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;

   private:
    Cancel& cancel_;
  };

 private:
  void leave(pthread_t thread);
  void interrupt(std::stop_token over);

  std::atomic<bool> requested_{false};
  std::atomic<int> signal_{0};
  std::mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> allowed_until_;
  std::vector<pthread_t> blocking_;  // a thread is in here only while it is alive
  std::condition_variable_any requested_or_over_;
  std::jthread interrupter_;  // there from the start: when it is needed there may be no thread to be had
};

}  // namespace gpuaes
