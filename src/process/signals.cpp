#include "process/signals.hpp"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

namespace gpuaes {
namespace {

std::atomic<int> last_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

sigset_t newly_ignored{};  // empty

// Returns whether the signal was already ignored.
bool ignore(int signal) {
  const bool before = ::signal(signal, SIG_IGN) == SIG_IGN;
  if (!before) sigaddset(&newly_ignored, signal);
  return before;
}

}  // namespace

bool in_foreground(int terminal) {
  const pid_t group = tcgetpgrp(terminal);
  return group < 0 || group == getpgrp();
}

bool ignore_signals() {
  ignore(SIGUSR1);
  ignore(SIGXFSZ);
  return ignore(SIGPIPE);
}

const sigset_t& newly_ignored_signals() {
  return newly_ignored;
}

void die_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  raise(signal);
  _Exit(128 + signal);  // not reached: the default action of these signals ends the process
}

JobSignals::JobSignals() {
  last_signal = 0;
  struct sigaction action {};
  action.sa_handler = [](int signal) { last_signal = signal; };
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    sigaction(signals_[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(signals_[i], &action, nullptr);
  }
}

JobSignals::~JobSignals() {
  for (std::size_t i = 0; i < signals_.size(); ++i) sigaction(signals_[i], &before_[i], nullptr);
  if (const int signal = take(); signal != 0) raise(signal);
}

int JobSignals::last() {
  return last_signal;
}

int JobSignals::take() {
  return last_signal.exchange(0);
}

void JobSignals::discard(int signal) {
  last_signal.compare_exchange_strong(signal, 0);
}

// Signals are blocked between the check of last() and ppoll(), so none is missed.
void JobSignals::wait(int fd, short events, std::chrono::milliseconds patience, Cancel& cancel) {
  const Cancel::Blocking blocking(cancel);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  block_in_this_thread();
  if (last() == 0) {
    struct pollfd entry {
      fd, events, 0
    };
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
    const struct timespec time { seconds.count(), std::chrono::nanoseconds(patience - seconds).count() };
    ppoll(&entry, 1, patience.count() < 0 ? nullptr : &time, &before);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void JobSignals::stop_by(int signal) {
  struct sigaction usual {};
  struct sigaction ours {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, &ours);
  raise(signal);
  sigaction(signal, &ours, nullptr);
}

void JobSignals::block_in_this_thread() {
  sigset_t set;
  sigemptyset(&set);
  add_to(set);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void JobSignals::add_to(sigset_t& set) {
  for (const int signal : signals_) sigaddset(&set, signal);
}

}  // namespace gpuaes
