#include "io/control.hpp"

#include <signal.h>

// Narrow headers: the whole of Boost.Asio 1.74 does not compile as C++20 with g++ 12.
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <stop_token>
#include <thread>

namespace gpuaes {
namespace {

constexpr std::chrono::milliseconds interrupt_interval{5};

constexpr std::array stop_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Keeps those signals from the calling thread, and from threads that it makes, until it goes.
class StopSignalsBlocked {
 public:
  StopSignalsBlocked() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : stop_signals) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~StopSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  StopSignalsBlocked(const StopSignalsBlocked&) = delete;
  StopSignalsBlocked& operator=(const StopSignalsBlocked&) = delete;

  // For another thread: the mask that there was.
  void lift() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

// Its thread is there from the start: when it is needed there may be no thread to be had. It alone takes the
// signals: under ThreadSanitizer one that comes to a thread which waits for a mutex is put off until that
// ends.
struct Control::Loop {
  explicit Loop(Cancel& to_request) : cancel(to_request) {
    for (const int signal : stop_signals)
      if (!is_ignored(signal)) signals.add(signal);
    wait_for_signal();
    thread = std::jthread([this](const std::stop_token& over) { run(over); });
  }

  // There is always a wait under way, without which the loop would end.
  void wait_for_signal() {
    signals.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      cancel.request(signal);
      wait_for_signal();
    });
  }

  // A request stops the context, and from then on it runs between interruptions.
  void run(const std::stop_token& over) {
    blocked.lift();
    context.run();
    while (!over.stop_requested()) {
      cancel.interrupt();
      context.restart();
      context.run_for(interrupt_interval);
    }
  }

  Cancel& cancel;
  const StopSignalsBlocked blocked;
  boost::asio::io_context context{1};
  boost::asio::signal_set signals{context};
  std::jthread thread;  // last: joined before the rest goes
};

Control::Control(Cancel& cancel) : loop_(std::make_unique<Loop>(cancel)) {
  cancel.on_request([this] { loop_->context.stop(); });
}

Control::~Control() {
  loop_->cancel.on_request({});
  loop_->thread.request_stop();
  loop_->context.stop();
}

}  // namespace gpuaes
