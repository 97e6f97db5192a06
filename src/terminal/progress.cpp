#include "terminal/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

constexpr std::size_t min_bar = 6;           // "[==> ]"
constexpr double max_seconds = 100 * 86400;  // a longer ETA is not shown

// In the order of the line.
enum Part : std::size_t { name, bytes, time, rate, average, bar, percent, eta, lanes, part_count };
using Parts = std::array<std::string, part_count>;  // each with its separator

constexpr std::array by_importance{bytes, percent, name, time, rate, eta, bar, lanes, average};

double average_rate(const ProgressState& state) {
  return state.seconds > 0 ? static_cast<double>(state.bytes) / state.seconds : 0;
}

// 0 to 1; nullopt if the size is unknown or 0.
std::optional<double> done_fraction(const ProgressState& state) {
  if (!state.size || *state.size == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(state.bytes) / static_cast<double>(*state.size));
}

std::string describe_eta(const ProgressState& state) {
  if (state.ended || !state.size || state.bytes >= *state.size || state.bytes == 0) return {};
  const double seconds = static_cast<double>(*state.size - state.bytes) / average_rate(state);
  return seconds < max_seconds ? fmt::format(" ETA {}", describe_time(seconds)) : "";
}

Parts describe(const ProgressState& state) {
  Parts parts;
  if (!state.name.empty()) parts[name] = fmt::format("{}: ", state.name);
  parts[bytes] = describe_amount(static_cast<double>(state.bytes));
  parts[time] = fmt::format(" {}", describe_time(state.seconds));
  if (!state.ended) parts[rate] = fmt::format(" [{}/s]", describe_amount(state.rate));
  parts[average] = fmt::format(" [{}/s]", describe_amount(average_rate(state)));
  // Rounded down: 100% means that everything is done.
  if (const auto done = done_fraction(state)) {
    parts[bar] = fmt::format(" [{:{}}]", "", min_bar - 2);
    parts[percent] = fmt::format("{:3}%", static_cast<int>(*done * 100));
  }
  parts[eta] = describe_eta(state);
  if (!state.lanes.empty()) parts[lanes] = fmt::format("  {}", state.lanes);
  return parts;
}

std::string draw_bar(double done, std::size_t room) {
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(room));
  std::string bar(filled, '=');
  if (filled < room) bar += '>';
  bar.resize(room, ' ');
  return fmt::format(" [{}]", bar);
}

// The percentage follows the bar directly, or any other part after a space.
std::string join(const Parts& parts) {
  std::string line;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == percent && !parts[i].empty() && parts[bar].empty() && !line.empty()) line += ' ';
    line += parts[i];
  }
  return line;
}

}  // namespace

// The line ----------------------------------------------------------------------------------------

std::string progress_line(const ProgressState& state, std::size_t columns) {
  const Parts all = describe(state);
  Parts chosen;
  for (const Part part : by_importance) {
    chosen[part] = all[part];
    if (join(chosen).size() > columns) chosen[part].clear();
  }
  if (!chosen[bar].empty()) {
    const std::size_t room = min_bar - 2 + columns - join(chosen).size();
    chosen[bar] = draw_bar(*done_fraction(state), room);
  }
  return join(chosen);
}

std::string progress_text(const ProgressState& state) {
  Parts parts = describe(state);
  parts[bar].clear();
  return join(parts);
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
  answers_ = control.on_user_signal([this] { if_possible([this] { report(); }); });
}

Progress::~Progress() {
  answers_ = {};
  if (!reported_last_) if_possible([this] { report_last(); });
}

ProgressState Progress::state() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
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

// The time before the first stream begins, for example while the user types a passphrase, does not count
// toward the rate, and nothing is drawn over the prompt.
std::list<Progress::GetPosition>::iterator Progress::begin(const std::string& name,
                                                           std::optional<std::uint64_t> size,
                                                           GetPosition get_position) {
  std::unique_lock lock(mutex_);
  const auto position = positions_.insert(positions_.end(), std::move(get_position));
  if (total_ && has_begun_) return position;
  has_begun_ = true;
  if (!total_) state_ = {.name = printable(name), .size = size};
  sampled_bytes_ = 0;
  start_ = sampled_ = Clock::now();
  lock.unlock();
  if (!shown_) return position;
  const bool terminal = messages_.line().columns().has_value();
  ticks_ = control_.every(terminal ? first_drawing : log_interval, terminal ? drawing_interval : log_interval,
                          [this] { if_possible([this] { draw(); }); });
  return position;
}

void Progress::end(std::list<GetPosition>::iterator position) {
  if (!total_) {
    ticks_ = {};
    if_possible([this] { report_last(); });
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
  if_possible([this] { report_last(); });
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

}  // namespace gpuaes
