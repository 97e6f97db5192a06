// Threads in tests: waiting with a time limit, random pauses, detecting unwanted concurrency.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace gpuaes {

// Ends the test program from any thread, including threads whose exceptions would be lost.
[[noreturn]] inline void give_up(const std::string& what) {
  std::fputs((what + "\n").c_str(), stderr);
  std::abort();
}

// A thread that is not blocked has made progress after a_while. A wait that takes longer than promptly has
// failed.
constexpr std::chrono::milliseconds a_while{40};
constexpr std::chrono::seconds promptly{5};

template <class T>
bool is_waiting(const std::future<T>& future) {
  return future.wait_for(a_while) == std::future_status::timeout;
}

// Waits for the result. Ends the test program if it is not ready promptly, because a thread that hangs cannot
// be ended and the destructor of std::future would wait for it.
template <class T>
T result_of(std::future<T> future) {
  if (future.wait_for(promptly) == std::future_status::ready) return future.get();
  give_up("a thread hangs");
}

// Waits until `holds()` is true; returns false if that takes too long.
template <class Condition>
bool eventually(Condition holds) {
  const auto end = std::chrono::steady_clock::now() + promptly;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

template <class Call>
auto in_thread(Call call) {
  return std::async(std::launch::async, std::move(call));
}

// Makes creating threads fail while it exists: their stacks would be larger than the address space.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t none;
    if (pthread_getattr_default_np(&before_) != 0 || pthread_getattr_default_np(&none) != 0 ||
        pthread_attr_setstacksize(&none, std::size_t{1} << 47) != 0 || pthread_setattr_default_np(&none) != 0)
      throw std::logic_error("cannot set the stack size");
    pthread_attr_destroy(&none);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

// Code that only one thread may run at a time. A second thread ends the test program.
class OneAtATime {
 public:
  explicit OneAtATime(std::string name) : name_(std::move(name)) {}

  class Inside {
   public:
    explicit Inside(OneAtATime& place) : place_(place) {
      if (place_.taken_.exchange(true)) give_up("two threads at once: " + place_.name_);
    }
    ~Inside() { place_.taken_ = false; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    OneAtATime& place_;
  };

 private:
  std::string name_;
  std::atomic<bool> taken_ = false;
};

// Random pauses, determined by the seed and the order of threads. Any thread may pause.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed = 0, std::chrono::microseconds max = {}) : state_(seed), max_(max) {}

  std::uint64_t random() const {  // splitmix64
    std::uint64_t z = state_.fetch_add(0x9e3779b97f4a7c15) + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  // Half of the pauses only yield: many short pauses mix threads as well as a few long ones.
  void pause() const {
    if (max_.count() == 0) return;
    const std::uint64_t number = random();
    if (number % 2 == 0) return std::this_thread::yield();
    std::this_thread::sleep_for(
        std::chrono::microseconds(number / 2 % static_cast<std::uint64_t>(max_.count())));
  }

 private:
  mutable std::atomic<std::uint64_t> state_;
  std::chrono::microseconds max_;
};

}  // namespace gpuaes
