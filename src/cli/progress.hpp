// How far the run is, told to the user: the line of -P, and the answer to SIGUSR1.
//
// It costs the control thread one wakeup a second, or none without -P, and those that move data nothing: they
// count what they have done in any case.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/messages.hpp"
#include "cli/progress_line.hpp"
#include "io/control.hpp"

namespace gpuaes {

class Progress {
 public:
  // Where a run is: bytes of input done, and the names of the lanes at work, one for each.
  struct Position {
    std::uint64_t bytes;
    std::vector<std::string> lanes;
  };
  using GetPosition = std::function<Position()>;

  // From here on SIGUSR1 is answered. `shown`: with the line of -P, once there is something to watch.
  Progress(const Control& control, const Messages& messages, bool shown);
  ~Progress();  // tells the last line, if nothing came to be watched

  // A stream that is being moved. While it lives `get_position` is called, by one thread at a time; the line
  // begins with it, and ends with it, however that comes about. `size`: bytes that are expected, if that is
  // known.
  class Watch {
   public:
    Watch(Progress& progress, std::optional<std::uint64_t> size, GetPosition get_position);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Progress& progress_;
  };

 private:
  using Clock = std::chrono::steady_clock;

  ProgressState state();
  void report();
  void draw();
  void report_last();
  void begin(std::optional<std::uint64_t> size, GetPosition get_position);
  void end();

  const Control& control_;
  const Messages& messages_;
  const bool shown_;

  std::mutex mutex_;  // for what follows
  GetPosition get_position_;
  bool reported_last_ = false;
  ProgressState state_;  // as it was when it was looked at last
  Clock::time_point start_ = Clock::now();
  Clock::time_point sampled_ = start_;  // when the rate was taken last, and what had been done then
  std::uint64_t sampled_bytes_ = 0;

  Control::Calls ticks_;    // these are the last members: over before the rest goes
  Control::Calls answers_;  // to SIGUSR1
};

}  // namespace gpuaes
