#include "io/cancel.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gpuaes {
namespace {

constexpr int interrupt_signal = SIGURG;
constexpr std::chrono::milliseconds interrupt_interval{5};

void set_handler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(interrupt_signal, &action, nullptr);
}

}  // namespace

Cancel::Cancel() {
  set_handler([](int) {});
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, interrupt_signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // inherited by every thread that is made after this
  interrupter_ = std::jthread([this](std::stop_token over) { interrupt(std::move(over)); });
}

Cancel::~Cancel() {
  interrupter_ = {};
  set_handler(SIG_DFL);
}

void Cancel::request(int signal) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (requested()) return;
    signal_.store(signal, std::memory_order_relaxed);
    requested_.store(true, std::memory_order_release);
  }
  requested_or_over_.notify_all();
}

void Cancel::allow_for(std::chrono::milliseconds time) {
  {
    std::lock_guard lock(mutex_);
    allowed_until_ = std::chrono::steady_clock::now() + time;
    requested_.store(false, std::memory_order_release);
  }
  requested_or_over_.notify_all();
}

void Cancel::interrupt(std::stop_token over) {
  std::unique_lock lock(mutex_);
  requested_or_over_.wait(lock, over, [this] { return requested() || allowed_until_; });
  while (!over.stop_requested()) {
    if (allowed_until_ && std::chrono::steady_clock::now() >= *allowed_until_)
      requested_.store(true, std::memory_order_release);
    if (requested())
      for (const pthread_t thread : blocking_) pthread_kill(thread, interrupt_signal);
    requested_or_over_.wait_for(lock, over, interrupt_interval, [] { return false; });
  }
}

void Cancel::leave(pthread_t thread) {
  std::lock_guard lock(mutex_);
  blocking_.erase(std::ranges::find(blocking_, thread));
}

Cancel::Blocking::Blocking(Cancel& cancel) : cancel_(cancel) {
  std::lock_guard lock(cancel_.mutex_);
  cancel_.check();
  cancel_.blocking_.push_back(pthread_self());
}

Cancel::Blocking::~Blocking() {
  cancel_.leave(pthread_self());
}

}  // namespace gpuaes
