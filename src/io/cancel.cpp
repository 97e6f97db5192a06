#include "io/cancel.hpp"

#include <signal.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

namespace gpuaes {
namespace {

constexpr int interrupt_signal = SIGURG;
std::atomic<bool> exists{false};

void set_handler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(interrupt_signal, &action, nullptr);
}

}  // namespace

Cancel::Cancel() {
  if (exists.exchange(true)) throw std::logic_error("a process has one Cancel at a time");
  set_handler([](int) {});
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, interrupt_signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // inherited by threads created later
}

Cancel::~Cancel() {
  set_handler(SIG_DFL);
  exists = false;
}

void Cancel::request(int signal) noexcept {
  std::lock_guard lock(mutex_);
  if (requested() && (signal == 0 || signal_.load(std::memory_order_relaxed) != 0)) return;
  signal_.store(signal, std::memory_order_relaxed);
  requested_.store(true, std::memory_order_release);
  if (wake_) wake_();
}

void Cancel::withdraw_failure() noexcept {
  std::lock_guard lock(mutex_);
  if (signal_.load(std::memory_order_relaxed) == 0) requested_.store(false, std::memory_order_release);
}

void Cancel::allow_for(std::chrono::milliseconds time) {
  std::lock_guard lock(mutex_);
  allowed_until_ = std::chrono::steady_clock::now() + time;
  requested_.store(false, std::memory_order_release);
  if (wake_) wake_();
}

void Cancel::on_request(std::function<void()> wake) {
  std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
  if (wake_ && requested()) wake_();
}

bool Cancel::interrupt() {
  bool allowed;
  {
    std::lock_guard lock(mutex_);
    if (allowed_until_ && std::chrono::steady_clock::now() >= *allowed_until_)
      requested_.store(true, std::memory_order_release);
    allowed = allowed_until_.has_value();
  }
  if (!requested()) return allowed;
  for (Shard& shard : blocking_) {
    std::lock_guard lock(shard.mutex);
    for (const pthread_t thread : shard.threads) pthread_kill(thread, interrupt_signal);
  }
  return true;
}

Cancel::Shard& Cancel::own_shard() {
  return blocking_[std::hash<std::thread::id>{}(std::this_thread::get_id()) % blocking_.size()];
}

Cancel::Blocking::Blocking(Cancel& cancel) : shard_(cancel.own_shard()) {
  std::lock_guard lock(shard_.mutex);
  cancel.check();
  shard_.threads.push_back(pthread_self());
}

Cancel::Blocking::~Blocking() {
  std::lock_guard lock(shard_.mutex);
  shard_.threads.erase(std::ranges::find(shard_.threads, pthread_self()));
}

}  // namespace gpuaes
