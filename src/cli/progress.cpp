#include "cli/progress.hpp"

#include <exception>
#include <utility>

namespace gpuaes {
namespace {

using std::chrono::milliseconds;

// On a terminal the first line comes soon, and short runs still have no more than their last one. Elsewhere
// lines stay where they are, so there are few of them.
constexpr milliseconds first_drawing{200}, drawing_interval{1000}, log_interval{10000};

// A rate of less time than this would be that of a chunk or two.
constexpr std::chrono::duration<double> min_sample{0.1};

// For what a run does not fail of: where there is no memory for a line, there is none.
template <class Action>
void if_possible(Action action) noexcept {
  try {
    action();
  } catch (const std::exception&) {
  }
}

}  // namespace

Progress::Progress(const Control& control, const Messages& messages, bool shown)
    : control_(control), messages_(messages), shown_(shown) {
  answers_ = control.on_user_signal([this] { if_possible([this] { tell(); }); });
}

Progress::~Progress() {
  answers_ = {};
  if (!told_last_) if_possible([this] { tell_last(); });
}

ProgressState Progress::state() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (look_) {
    const Position position = look_();
    state_.bytes = position.bytes;
    state_.lanes = describe_lanes_at_work(position.lanes);
  }
  state_.seconds = std::chrono::duration<double>(now - start_).count();
  const std::chrono::duration<double> sample = now - sampled_;
  if (sample >= min_sample) {
    state_.rate = static_cast<double>(state_.bytes - sampled_bytes_) / sample.count();
    sampled_ = now;
    sampled_bytes_ = state_.bytes;
  }
  return state_;
}

void Progress::tell() {
  messages_.report(progress_text(state()));
}

void Progress::draw() {
  if (const auto columns = messages_.line().columns())
    messages_.line().draw(progress_line(state(), *columns));
  else
    tell();
}

// The time that it took until the stream could begin, while a passphrase was typed perhaps, is no part of its
// rate.
void Progress::begin(std::optional<std::uint64_t> size, Look look) {
  {
    const std::lock_guard lock(mutex_);
    look_ = std::move(look);
    state_.size = size;
    start_ = sampled_ = Clock::now();
  }
  if (!shown_) return;
  const bool terminal = messages_.line().columns().has_value();
  ticks_ = control_.every(terminal ? first_drawing : log_interval, terminal ? drawing_interval : log_interval,
                          [this] { if_possible([this] { draw(); }); });
}

void Progress::end() {
  ticks_ = {};
  if_possible([this] { tell_last(); });
  const std::lock_guard lock(mutex_);
  look_ = {};
}

void Progress::tell_last() {
  told_last_ = true;
  ProgressState last = state();
  last.ended = true;
  if (!shown_) return;
  if (const auto columns = messages_.line().columns())
    messages_.line().finish(progress_line(last, *columns));
  else
    messages_.report(progress_text(last));
}

Progress::Watch::Watch(Progress& progress, std::optional<std::uint64_t> size, Look look)
    : progress_(progress) {
  progress_.begin(size, std::move(look));
}

Progress::Watch::~Watch() {
  progress_.end();
}

}  // namespace gpuaes
