// The control side of the program: one thread of Boost.Asio, beside those that move data, for signals, timers
// and whatever else is not to wait for data. The only user of Boost.Asio.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "io/cancel.hpp"

namespace gpuaes {

// While it lives, the signals that end a program (`stop_signals` in control.cpp) request `cancel`, except
// those inherited as ignored (nohup, background jobs), and a request ends blocking calls. SIGUSR1 does
// nothing but what on_user_signal() says, not even after it has gone: it must never end a run that is as good
// as done.
//
// Signals come to the control thread alone, and to threads that are made before it: no read or write of
// another one is interrupted by them.
class Control {
 public:
  explicit Control(Cancel& cancel);
  ~Control();

  // Calls on the control thread, for as long as it lives: once it is gone nobody is in the function. What is
  // called must not throw, nor wait for long: signals wait for it.
  class Calls {
   public:
    Calls() = default;
    Calls(Calls&&) noexcept = default;
    Calls& operator=(Calls&& other) noexcept;
    ~Calls();

   private:
    friend class Control;
    struct Target;
    explicit Calls(std::shared_ptr<Target> target);
    std::shared_ptr<Target> target_;
  };

  // Calls `function` after `first`, and from then on every `interval`.
  [[nodiscard]] Calls every(std::chrono::milliseconds first, std::chrono::milliseconds interval,
                            std::function<void()> function) const;

  // Calls `function` upon each SIGUSR1. One at a time: the last that was given counts.
  [[nodiscard]] Calls on_user_signal(std::function<void()> function) const;

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace gpuaes
