// How long something was so, added up.
#pragma once

#include <chrono>

namespace gpuaes {

class Stopwatch {
 public:
  // Whether it is so from now on. The clock is looked at only where that changes.
  void set(bool running) {
    if (running == running_) return;
    const auto now = std::chrono::steady_clock::now();
    if (running_) total_ += now - since_;
    since_ = now;
    running_ = running;
  }

  // Up to the last change.
  double seconds() const { return std::chrono::duration<double>(total_).count(); }

 private:
  bool running_ = false;
  std::chrono::steady_clock::time_point since_;
  std::chrono::steady_clock::duration total_{};
};

}  // namespace gpuaes
