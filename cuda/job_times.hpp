// Reports the steps of a job on the device: as profiler ranges while the host enqueues them and, for the
// trace, with the host times at which the device began and ended each step.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>

#include "lane/lane.hpp"
#include "runtime.hpp"
#include "system/profiler_range.hpp"

namespace gpuaes::cuda {

// Times the steps of one job at a time. Two events give only the time between them, so one event, the base,
// is recorded while the host reads its clock.
class JobTimes {
 public:
  explicit JobTimes(bool timed) {
    if (!timed) return;
    events_.emplace();
    find_base();
  }

  void start() {
    if (!events_) return;
    if (Clock::now() - base_tried_ > base_lasts) find_base();
    started_ = Clock::now();
    marks_ = 0;
  }

  // Called before the first step, between steps and after the last one of each job.
  void mark(const Stream& stream) {
    if (!events_) return;
    events_->marks[marks_++].record(stream);
    enqueued_ = Clock::now();
  }

  // Called once the device has finished the job; sets phases().
  void finish() {
    if (!events_) return;
    const Clock::time_point now = Clock::now();
    std::array<Clock::time_point, steps + 1> at;
    Clock::time_point earliest = started_;  // the clocks differ slightly, but phases must not overlap
    for (std::size_t i = 0; i < at.size(); ++i)
      earliest = at[i] = std::clamp(host_time(events_->marks[i]), earliest, now);
    phases_ = {{{"queue", std::min(enqueued_, at[0]), at[0]},
                {"H2D", at[0], at[1]},
                {"kernel", at[1], at[2]},
                {"D2H", at[2], at[3]}}};
  }

  std::span<const Phase> phases() const {
    if (!events_) return {};
    return phases_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t steps = 3;
  // The clocks drift, and events report milliseconds as a float, whose precision after 8 s is half a
  // microsecond.
  static constexpr std::chrono::seconds base_lasts{2};
  static constexpr std::chrono::microseconds good_enough{100};
  static constexpr int tries = 4;

  struct TimedEvent : Event {
    TimedEvent() : Event(cudaEventDefault) {}
  };
  struct Events {
    std::array<TimedEvent, steps + 1> marks;
    TimedEvent base, candidate;
  };

  // Records a base in the null stream, which is otherwise unused. The base is uncertain by half the time that
  // the recording took; if a busy device delays it, the old base is kept.
  void find_base() {
    Clock::duration best = base_at_ == Clock::time_point{} ? Clock::duration::max() : good_enough;
    for (int i = 0; i < tries; ++i) {
      const Clock::time_point before = Clock::now();
      check(cudaEventRecord(events_->candidate.get(), nullptr));
      check(cudaEventSynchronize(events_->candidate.get()));  // spins: waking up takes too long
      base_tried_ = Clock::now();
      if (base_tried_ - before >= best) continue;
      best = base_tried_ - before;
      base_at_ = before + best / 2;
      std::swap(events_->base, events_->candidate);
    }
  }

  Clock::time_point host_time(const Event& event) const {
    float milliseconds;
    check(cudaEventElapsedTime(&milliseconds, events_->base.get(), event.get()));
    return base_at_ + std::chrono::duration_cast<Clock::duration>(
                          std::chrono::duration<double, std::milli>(milliseconds));
  }

  std::optional<Events> events_;  // empty unless times are requested
  Clock::time_point base_at_, base_tried_, started_, enqueued_;
  std::size_t marks_ = 0;
  std::array<Phase, steps + 1> phases_{};
};

// Used while a job is enqueued: next() begins a step, end() ends the last one.
class Steps {
 public:
  Steps(JobTimes& times, const Stream& stream) : times_(times), stream_(stream) { times_.start(); }
  void next(const char* name) {
    end();
    profiler_range_.emplace(name);
  }
  void end() {
    profiler_range_.reset();
    times_.mark(stream_);
  }

 private:
  JobTimes& times_;
  const Stream& stream_;
  std::optional<ProfilerRange> profiler_range_;
};

}  // namespace gpuaes::cuda
