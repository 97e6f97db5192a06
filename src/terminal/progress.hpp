// Progress reports: the line of -P, and the response to SIGUSR1, in the style of pv:
//
//     1.25GiB 0:00:12 [ 380MiB/s] [====>     ] 40% ETA 0:00:18  cpu:2
//
// It shows the name of the input (if there are several inputs), the bytes of input processed, the time, the
// average rate, a bar, the percentage, the time left at that rate, and the active lanes.
//
// With -P, the control thread wakes up at most once a second; without it, never. Threads that move data do no
// extra work: they count bytes anyway.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "process/control.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

struct ProgressState {
  std::string name;                   // of the input, if there are several inputs
  std::uint64_t bytes = 0;            // of input processed
  std::optional<std::uint64_t> size;  // expected bytes of input, if known
  double seconds = 0;                 // since the start
  std::string lanes;                  // the active lanes
  bool ended = false;                 // no ETA
};

// At most `columns` characters: without the name, and cut off, if they are too few. The bar takes the
// remaining space. Past the expected size, the percentage is 100 and there is no ETA.
std::string progress_line(const ProgressState& state, std::size_t columns);

// The whole line except the bar, for a log.
std::string progress_text(const ProgressState& state);

// Three digits and a unit of 1024, in at least 7 characters: "1.25GiB", " 380MiB", "  512 B".
std::string describe_amount(double bytes);

// "0:00:12", or "1:00:00:12" for a day or more.
std::string describe_time(double seconds);

// Groups equal names, in order of first appearance.
struct EqualNames {
  std::string name;
  std::vector<std::size_t> indices;
};
std::vector<EqualNames> group_by_name(std::span<const std::string> names);

// Groups lanes by name, in the form that -l takes: "cuda:0:8+cpu:8".
std::string describe_active_lanes(std::span<const std::string> names);

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

  // Many streams, several at a time. While it exists, the line shows their number and all of their bytes,
  // from the first Watch on.
  class Total {
   public:
    explicit Total(Progress& progress) : progress_(progress) { progress_.begin_total(); }
    ~Total() { progress_.end_total(); }
    Total(const Total&) = delete;
    Total& operator=(const Total&) = delete;

   private:
    Progress& progress_;
  };

  // A stream in progress. While it exists, the line is shown and `get_position` is called, by one thread at a
  // time. `name`: of the input if there are several; `size`: the expected bytes of input, if known.
  class Watch {
   public:
    Watch(Progress& progress, const std::string& name, std::optional<std::uint64_t> size,
          GetPosition get_position)
        : progress_(progress), position_(progress.begin(name, size, std::move(get_position))) {}
    ~Watch() { progress_.end(position_); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Progress& progress_;
    const std::list<GetPosition>::iterator position_;
  };

 private:
  using Clock = std::chrono::steady_clock;

  ProgressState state();
  void show(bool ended) noexcept;
  std::list<GetPosition>::iterator begin(const std::string& name, std::optional<std::uint64_t> size,
                                         GetPosition get_position);
  void end(std::list<GetPosition>::iterator position);
  void begin_total();
  void end_total();

  const Control& control_;
  const Messages& messages_;
  const bool shown_;

  std::mutex mutex_;                           // guards the members up to start_
  std::list<GetPosition> positions_;           // of the streams in progress
  bool total_ = false, has_begun_ = false;     // whether there is a Total, or was a Watch
  std::uint64_t ended_ = 0, ended_bytes_ = 0;  // streams, with Total
  ProgressState state_;                        // as of the last call of state()
  Clock::time_point start_ = Clock::now();

  Control::Calls ticks_;    // declared last: calls end before other members are destroyed
  Control::Calls answers_;  // to SIGUSR1
};

}  // namespace gpuaes
