#include "io/signals.hpp"

#include <signal.h>
#include <stdlib.h>

namespace gpuaes {

bool ignore_signals() {
  ::signal(SIGUSR1, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  return ::signal(SIGPIPE, SIG_IGN) == SIG_IGN;
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

}  // namespace gpuaes
