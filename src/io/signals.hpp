// Signals: what the process ignores, how it ends by one, and job control.
#pragma once

#include <signal.h>

#include <array>
#include <chrono>

#include "io/cancel.hpp"

namespace gpuaes {

// From now on a write to a pipe that nobody reads, or beyond a limit on file sizes, fails as any other,
// instead of ending the process with something half written. And SIGUSR1, which asks how far a run is, does
// not end what has not begun to run. Returns whether SIGPIPE was ignored already.
bool ignore_signals();

// Ends the process by `signal`, with its default action. Call it when all has been unwound and wiped.
[[noreturn]] void die_by(int signal);

// Job control for a thread that changes the terminal: it must restore the terminal before the process stops.
//
// While an object lives, SIGTSTP, SIGTTIN, SIGTTOU and SIGCONT are reported instead of stopping the process,
// except those inherited as ignored. One object at a time; only the thread that made it uses it, and all
// other threads have these signals blocked.
class JobSignals {
 public:
  JobSignals();
  ~JobSignals();  // a signal that no one took has its usual effect now
  JobSignals(const JobSignals&) = delete;
  JobSignals& operator=(const JobSignals&) = delete;

  // The last signal that came, or 0. A signal also ends a blocking call of this thread with EINTR.
  static int last();

  // Returns the last signal and marks it handled.
  static int take();

  // Marks `signal` handled if it was the last one.
  static void discard(int signal);

  // Waits until `fd` is ready for `events` (never, if it is negative), a signal has come, or `patience` is
  // over (forever, if it is negative). May also return early. Cancelled.
  static void wait(int fd, short events, std::chrono::milliseconds patience, Cancel& cancel);

  // Stops the process by `signal` with its default action, and returns when it continues.
  static void stop_by(int signal);

  static void block_in_this_thread();

  static void add_to(sigset_t& set);

 private:
  static constexpr std::array signals_{SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};
  std::array<struct sigaction, signals_.size()> before_{};
};

}  // namespace gpuaes
