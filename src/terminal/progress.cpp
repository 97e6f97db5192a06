#include "terminal/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/unicode.hpp"

namespace gpuaes {
namespace {

using std::chrono::milliseconds;

// On a terminal, the first line is drawn soon, but late enough that short runs show only the last one. In a
// log, all lines remain, so they are less frequent.
constexpr milliseconds first_drawing{200}, drawing_interval{1000}, log_interval{10000};

// A progress line that cannot be made, for example when memory runs out, is not an error of the run.
template <class Action>
void if_possible(Action action) noexcept {
  try {
    action();
  } catch (const std::exception&) {
  }
}

// 0 to 1; nullopt if the size is unknown or 0.
std::optional<double> done_fraction(const ProgressState& state) {
  if (!state.size || *state.size == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(state.bytes) / static_cast<double>(*state.size));
}

std::string describe_eta(const ProgressState& state, double rate) {
  constexpr double max_seconds = 100 * 86400;
  if (state.ended || !state.size || state.bytes >= *state.size || state.bytes == 0) return {};
  const double seconds = static_cast<double>(*state.size - state.bytes) / rate;
  return seconds < max_seconds ? fmt::format(" ETA {}", describe_time(seconds)) : "";
}

// "[==> ]", of that many columns; empty if they are too few.
std::string draw_bar(double done, std::size_t columns) {
  constexpr std::size_t min_bar = 6;
  if (columns < min_bar) return {};
  const std::size_t room = columns - 2;
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(room));
  return fmt::format("[{:{}}]", std::string(filled, '=') + (filled < room ? ">" : ""), room);
}

// The bar is shown if the size is known.
std::string describe(const ProgressState& state, std::size_t bar_columns) {
  const double rate = state.seconds > 0 ? static_cast<double>(state.bytes) / state.seconds : 0;
  std::string line = state.name.empty() ? "" : fmt::format("{}: ", state.name);
  line += fmt::format("{} {} [{}/s]", describe_amount(static_cast<double>(state.bytes)),
                      describe_time(state.seconds), describe_amount(rate));
  // Rounded down: 100% means that everything is done.
  if (const auto done = done_fraction(state))
    line += fmt::format(" {}{:3}%", draw_bar(*done, bar_columns), static_cast<int>(*done * 100));
  line += describe_eta(state, rate);
  if (!state.lanes.empty()) line += fmt::format("  {}", state.lanes);
  return line;
}

}  // namespace

// The line ----------------------------------------------------------------------------------------

std::string progress_line(const ProgressState& state, std::size_t columns) {
  std::string line = progress_text(state);
  if (line.size() <= columns) return describe(state, columns - line.size());
  if (!state.name.empty()) {
    ProgressState nameless = state;
    nameless.name.clear();
    return progress_line(nameless, columns);
  }
  line.resize(columns);
  return line;
}

std::string progress_text(const ProgressState& state) {
  return describe(state, 0);
}

std::string describe_amount(double bytes) {
  if (bytes < 999.5) return fmt::format("{:5.0f} B", bytes);
  constexpr std::string_view units = "KMGTPE";
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 999.5 && unit + 1 < units.size(); bytes /= 1024) ++unit;
  const int digits = bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0;
  return fmt::format("{:4.{}f}{}iB", bytes, digits, units[unit]);
}

std::string describe_time(double seconds) {
  const auto all = static_cast<std::uint64_t>(seconds);
  const std::uint64_t days = all / 86400, hours = all / 3600 % 24, minutes = all / 60 % 60;
  if (days == 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, all % 60);
  return fmt::format("{}:{:02}:{:02}:{:02}", days, hours, minutes, all % 60);
}

std::vector<EqualNames> group_by_name(std::span<const std::string> names) {
  std::vector<EqualNames> groups;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto group = std::ranges::find(groups, names[i], &EqualNames::name);
    if (group == groups.end()) group = groups.insert(group, {names[i], {}});
    group->indices.push_back(i);
  }
  return groups;
}

std::string describe_active_lanes(std::span<const std::string> names) {
  std::string text;
  for (const auto& [name, indices] : group_by_name(names))
    text += fmt::format("{}{}:{}", text.empty() ? "" : "+", name, indices.size());
  return text;
}

// Reports -----------------------------------------------------------------------------------------

Progress::Progress(const Control& control, const Messages& messages, bool shown)
    : control_(control), messages_(messages), shown_(shown) {
  answers_ =
      control_.on_user_signal([this] { if_possible([this] { messages_.report(progress_text(state())); }); });
}

ProgressState Progress::state() {
  const std::lock_guard lock(mutex_);
  if (!positions_.empty() || total_) {
    std::vector<std::string> lanes;
    state_.bytes = ended_bytes_;
    for (const GetPosition& get : positions_) {
      Position position = get();
      state_.bytes += position.bytes;
      std::ranges::move(position.lanes, std::back_inserter(lanes));
    }
    state_.lanes = describe_active_lanes(lanes);
  }
  if (total_) state_.name = fmt::format("{} file{}", with_commas(ended_), ended_ == 1 ? "" : "s");
  state_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return state_;
}

void Progress::show(bool ended) noexcept {
  if_possible([&] {
    ProgressState now = state();
    now.ended = ended;
    if (!shown_) return;
    const auto columns = messages_.line().columns();
    if (!columns)
      messages_.report(progress_text(now));
    else if (ended)
      messages_.line().finish(progress_line(now, *columns));
    else
      messages_.line().draw(progress_line(now, *columns));
  });
}

// The time before the first stream begins, for example while the user types a passphrase, does not count
// toward the rate, and nothing is drawn over the prompt.
std::list<Progress::GetPosition>::iterator Progress::begin(const std::string& name,
                                                           std::optional<std::uint64_t> size,
                                                           GetPosition get_position) {
  const std::lock_guard lock(mutex_);
  const auto position = positions_.insert(positions_.end(), std::move(get_position));
  if (total_ && has_begun_) return position;
  has_begun_ = true;
  if (!total_) state_ = {.name = printable(name), .size = size};
  start_ = Clock::now();
  if (!shown_) return position;
  const bool terminal = messages_.line().columns().has_value();
  ticks_ = control_.every(terminal ? first_drawing : log_interval, terminal ? drawing_interval : log_interval,
                          [this] { show(false); });
  return position;
}

void Progress::end(std::list<GetPosition>::iterator position) {
  if (!total_) {
    ticks_ = {};
    show(true);
  }
  const std::lock_guard lock(mutex_);
  if (total_) {
    ++ended_;
    ended_bytes_ += (*position)().bytes;
  }
  positions_.erase(position);
}

void Progress::begin_total() {
  const std::lock_guard lock(mutex_);
  total_ = true;
}

void Progress::end_total() {
  ticks_ = {};
  show(true);
}

}  // namespace gpuaes
