// Progress reports: the line of -P, and the response to SIGUSR1.
//
// With -P, the control thread wakes up at most once a second; without it, never. Threads that move data do no
// extra work: they count bytes anyway.
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
#include "process/control.hpp"

namespace gpuaes {

class Progress {
 public:
  // The position of a run: bytes of input processed, and the name of each active lane.
  struct Position {
    std::uint64_t bytes;
    std::vector<std::string> lanes;
  };
  using GetPosition = std::function<Position()>;

  // From now on, the program responds to SIGUSR1. `shown`: whether to show the line of -P while there is a
  // Watch.
  Progress(const Control& control, const Messages& messages, bool shown);
  ~Progress();  // prints the last line if there was no Watch

  // A stream in progress. While it exists, the line is shown and `get_position` is called, by one thread at a
  // time. `size`: the expected bytes of input, if known.
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

  std::mutex mutex_;  // guards the members up to sampled_bytes_
  GetPosition get_position_;
  bool reported_last_ = false;
  ProgressState state_;  // as of the last call of state()
  Clock::time_point start_ = Clock::now();
  Clock::time_point sampled_ = start_;  // time and bytes at the last measurement of the rate
  std::uint64_t sampled_bytes_ = 0;

  Control::Calls ticks_;    // declared last: calls end before other members are destroyed
  Control::Calls answers_;  // to SIGUSR1
};

}  // namespace gpuaes
