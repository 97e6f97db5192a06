#include "io/signals.hpp"

#include <signal.h>
#include <stdlib.h>

// Narrow headers: the whole of Boost.Asio 1.74 does not compile as C++20 with g++ 12.
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <thread>

namespace gpuaes {
namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

bool ignore_write_signals() {
  ::signal(SIGXFSZ, SIG_IGN);
  return ::signal(SIGPIPE, SIG_IGN) == SIG_IGN;
}

struct SignalWatch::Control {
  boost::asio::io_context context{1};
  boost::asio::signal_set signals{context};
  std::jthread thread;  // last: joined before the rest goes
};

SignalWatch::SignalWatch(Cancel& cancel) : control_(std::make_unique<Control>()) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (!is_ignored(signal)) control_->signals.add(signal);
  control_->signals.async_wait([&cancel](const boost::system::error_code& error, int signal) {
    if (!error) cancel.request(signal);
  });
  control_->thread = std::jthread([this] { control_->context.run(); });
}

SignalWatch::~SignalWatch() {
  control_->context.stop();
  control_->thread = {};
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
