// Signals that the process ignores, termination by a signal, and job control.
#pragma once

#include <signal.h>

#include <array>
#include <chrono>

#include "io/cancel.hpp"

namespace gpuaes {

// Ignores SIGPIPE and SIGXFSZ, so a write to a pipe without readers, or beyond a limit on file sizes, fails
// instead of ending the process. Also ignores SIGUSR1, which asks for progress and must not end a process
// that is still starting. Returns whether SIGPIPE was already ignored.
bool ignore_signals();

// The signals that ignore_signals() changed: another program that is run must not ignore them.
const sigset_t& newly_ignored_signals();

// Ends the process with the default action of `signal`. Call it after everything has been unwound and wiped.
[[noreturn]] void die_by(int signal);

// Whether this process is in the foreground of a terminal. Only a controlling terminal has a background.
bool in_foreground(int terminal);

// Job control for a thread that changes the terminal: it must restore the terminal before the process stops.
//
// While an object exists, SIGTSTP, SIGTTIN, SIGTTOU and SIGCONT are reported instead of stopping the process,
// except those inherited as ignored. There is one object at a time. Only the thread that created it uses it;
// all other threads have these signals blocked.
class JobSignals {
 public:
  JobSignals();
  ~JobSignals();  // a signal that was not taken has its usual effect now
  JobSignals(const JobSignals&) = delete;
  JobSignals& operator=(const JobSignals&) = delete;

  // The last signal received, or 0. A signal also makes a blocking call of this thread fail with EINTR.
  static int last();

  // Returns the last signal and marks it handled.
  static int take();

  // Marks `signal` handled if it was the last one received.
  static void discard(int signal);

  // Waits until `fd` is ready for `events`, a signal is received or `patience` has passed. A negative `fd` is
  // never ready; negative `patience` means forever. May return early. Cancelled.
  static void wait(int fd, short events, std::chrono::milliseconds patience, Cancel& cancel);

  // Stops the process with the default action of `signal`. Returns when the process continues.
  static void stop_by(int signal);

  static void block_in_this_thread();

  static void add_to(sigset_t& set);

 private:
  static constexpr std::array signals_{SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};
  std::array<struct sigaction, signals_.size()> before_{};
};

}  // namespace gpuaes
