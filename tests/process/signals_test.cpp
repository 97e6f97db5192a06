// Job control.
#include "process/signals.hpp"

#include <signal.h>

#include "support/catch.hpp"

namespace gpuaes {
namespace {

// Sets the handler of a signal, until destruction.
class Handler {
 public:
  Handler(int signal, void (*handler)(int)) : signal_(signal), before_(::signal(signal, handler)) {}
  ~Handler() { ::signal(signal_, before_); }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

 private:
  int signal_;
  void (*before_)(int);
};

volatile sig_atomic_t received;

void receive(int signal) {
  received = signal;
}

}  // namespace

TEST_CASE("a job-control signal that the process ignores is not reported") {
  const Handler ignored(SIGTSTP, SIG_IGN), other(SIGTTOU, receive);
  const JobSignals signals;
  raise(SIGTSTP);
  CHECK(JobSignals::last() == 0);
  raise(SIGTTOU);
  CHECK(JobSignals::take() == SIGTTOU);
}

TEST_CASE("a job-control signal that was not taken has its usual effect afterwards") {
  const Handler handler(SIGTSTP, receive);
  received = 0;
  {
    const JobSignals signals;
    raise(SIGTSTP);
    CHECK(received == 0);
  }
  CHECK(received == SIGTSTP);
}

}  // namespace gpuaes
