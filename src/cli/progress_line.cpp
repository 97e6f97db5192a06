#include "cli/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace gpuaes {
namespace {

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

}  // namespace gpuaes
