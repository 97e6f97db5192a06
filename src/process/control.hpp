// The control thread, which handles signals and timers without waiting for data. Boost.Asio is used only
// here.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "io/cancel.hpp"

namespace gpuaes {

// While an object exists, the signals that end a program (`stop_signals` in control.cpp) request a stop
// through `cancel`, unless they were inherited as ignored (nohup, background jobs). A request interrupts
// blocking calls. SIGUSR1 only calls the function given to on_user_signal(). It is ignored after destruction,
// because it must not end a run that is almost done.
//
// Only the control thread, and threads created before it, receive these signals, so they do not interrupt
// reads and writes of other threads.
class Control {
 public:
  explicit Control(Cancel& cancel);
  ~Control();

  // Calls of a function on the control thread, until destruction; the destructor waits for a call that is
  // running. The function must not throw, and must not block for long because signals wait for it.
  class Calls {
   public:
    Calls() = default;
    Calls(Calls&&) noexcept = default;
    Calls& operator=(Calls&& other) noexcept;
    ~Calls();

   private:
    friend class Control;
    struct Target;
    explicit Calls(std::function<void()> function);
    std::shared_ptr<Target> target_;
  };

  // Calls `function` after `first` and then every `interval`.
  [[nodiscard]] Calls every(std::chrono::milliseconds first, std::chrono::milliseconds interval,
                            std::function<void()> function) const;

  // Calls `function` on each SIGUSR1. Replaces the previous function.
  [[nodiscard]] Calls on_user_signal(std::function<void()> function) const;

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace gpuaes
