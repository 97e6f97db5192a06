#include "io/control.hpp"

#include <signal.h>

// Narrow headers: the whole of Boost.Asio 1.74 does not compile as C++20 with g++ 12.
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <stop_token>
#include <thread>

namespace gpuaes {
namespace {

constexpr std::chrono::milliseconds interrupt_interval{5};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

// Its thread is there from the start: when it is needed there may be no thread to be had.
struct Control::Loop {
  explicit Loop(Cancel& to_request) : cancel(to_request) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
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
    context.run();
    while (!over.stop_requested()) {
      cancel.interrupt();
      context.restart();
      context.run_for(interrupt_interval);
    }
  }

  Cancel& cancel;
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
