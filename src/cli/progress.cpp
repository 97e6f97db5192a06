#include "cli/progress.hpp"

#include <exception>
#include <utility>

namespace gpuaes {
namespace {

using std::chrono::milliseconds;

// On a terminal, the first line is drawn soon, but late enough that short runs show only the last one. In a
// log, all lines remain, so they are less frequent.
constexpr milliseconds first_drawing{200}, drawing_interval{1000}, log_interval{10000};

// A shorter measurement would cover only a chunk or two.
constexpr std::chrono::duration<double> min_sample{0.1};

// A progress line that cannot be made, for example when memory runs out, is not an error of the run.
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
  answers_ = control.on_user_signal([this] { if_possible([this] { report(); }); });
}

Progress::~Progress() {
  answers_ = {};
  if (!reported_last_) if_possible([this] { report_last(); });
}

ProgressState Progress::state() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (get_position_) {
    const Position position = get_position_();
    state_.bytes = position.bytes;
    state_.lanes = describe_active_lanes(position.lanes);
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

void Progress::report() {
  messages_.report(progress_text(state()));
}

void Progress::draw() {
  if (const auto columns = messages_.line().columns())
    messages_.line().draw(progress_line(state(), *columns));
  else
    report();
}

// The time before the stream begins, for example while the user types a passphrase, does not count toward its
// rate.
void Progress::begin(std::optional<std::uint64_t> size, GetPosition get_position) {
  {
    const std::lock_guard lock(mutex_);
    get_position_ = std::move(get_position);
    state_ = {.name = printable(messages_.one_of_several()), .size = size};
    sampled_bytes_ = 0;
    start_ = sampled_ = Clock::now();
  }
  if (!shown_) return;
  const bool terminal = messages_.line().columns().has_value();
  ticks_ = control_.every(terminal ? first_drawing : log_interval, terminal ? drawing_interval : log_interval,
                          [this] { if_possible([this] { draw(); }); });
}

void Progress::end() {
  ticks_ = {};
  if_possible([this] { report_last(); });
  const std::lock_guard lock(mutex_);
  get_position_ = {};
}

void Progress::report_last() {
  reported_last_ = true;
  ProgressState last = state();
  last.ended = true;
  if (!shown_) return;
  if (const auto columns = messages_.line().columns())
    messages_.line().finish(progress_line(last, *columns));
  else
    messages_.report(progress_text(last));
}

Progress::Watch::Watch(Progress& progress, std::optional<std::uint64_t> size, GetPosition get_position)
    : progress_(progress) {
  progress_.begin(size, std::move(get_position));
}

Progress::Watch::~Watch() {
  progress_.end();
}

}  // namespace gpuaes
