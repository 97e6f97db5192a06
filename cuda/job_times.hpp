// The steps of a job on the device: ranges for profilers while the host enqueues them, and, for the trace,
// when the device began and ended each, in the host's time.
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

// When the steps of one job at a time were done. Events know only how long after one another they came, so
// one of them, the base, is recorded while the host looks at its clock.
class JobTimes {
 public:
  explicit JobTimes(bool timed) {
    if (!timed) return;
    events_.emplace();
    find_base();
  }

  // The job begins.
  void start() {
    if (!events_) return;
    if (Clock::now() - base_tried_ > base_lasts) find_base();
    started_ = Clock::now();
    marks_ = 0;
  }

  // Between two steps, before the first and behind the last: so often for each job.
  void mark(const Stream& stream) {
    if (!events_) return;
    events_->marks[marks_++].record(stream);
    enqueued_ = Clock::now();
  }

  // The device has done the job: its phases are there.
  void finish() {
    if (!events_) return;
    const Clock::time_point now = Clock::now();
    std::array<Clock::time_point, steps + 1> at;
    Clock::time_point earliest = started_;  // the clocks agree to some microseconds, and phases never overlap
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
  // The clocks drift apart, and events tell milliseconds as a float, which after 8 s holds half a
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

  // Records a base in the null stream, where nothing else is ever under way. The host's clock is known to
  // half of what that took; where a busy device took long, the old base stays.
  void find_base() {
    Clock::duration best = base_at_ == Clock::time_point{} ? Clock::duration::max() : good_enough;
    for (int i = 0; i < tries; ++i) {
      const Clock::time_point before = Clock::now();
      check(cudaEventRecord(events_->candidate.get(), nullptr));
      check(cudaEventSynchronize(events_->candidate.get()));  // awake: a sleep would be the error
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

  std::optional<Events> events_;  // none where nobody asks for times
  Clock::time_point base_at_, base_tried_, started_, enqueued_;
  std::size_t marks_ = 0;
  std::array<Phase, steps + 1> phases_{};
};

// While a job is being enqueued: next() where each of its steps begins, end() behind the last.
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
