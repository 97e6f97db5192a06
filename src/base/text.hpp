// Small helpers for text.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuaes {

inline constexpr const char* line_spaces = " \t\r";

// The text without spaces, tabs and carriage returns at its end, or at both ends.
inline std::string_view trim_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(line_spaces) + 1);
}
inline std::string_view trim(std::string_view text) {
  return trim_end(text.substr(std::min(text.find_first_not_of(line_spaces), text.size())));
}

// The number if the text consists of its decimal digits and nothing else.
template <std::unsigned_integral Number>
std::optional<Number> parse_number(std::string_view digits) {
  Number number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || at != end) return std::nullopt;
  return number;
}

// "1 chunk", "2 chunks".
inline std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "2,998".
inline std::string with_commas(std::uint64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}

// The text, or its first 40 bytes and "..." if there are more.
inline std::string shortened(std::string_view text) {
  constexpr std::size_t max_bytes = 40;
  return fmt::format("{}{}", text.substr(0, max_bytes), text.size() > max_bytes ? "..." : "");
}

// Removes the next line from `text` and returns it without the newline.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// The parts of the text between separators, which may be empty. There is at least one.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The lines of a file of keys, trimmed, without those that are empty or begin with #.
class ContentLines {
 public:
  explicit ContentLines(std::string_view text) : rest_(text) {}

  // Moves to the first or next line. Returns false at the end, where there is no line.
  bool next() {
    do {
      line_ = trim(take_line(rest_));
      ++number_;
    } while (!rest_.empty() && !has_content());
    return has_content();
  }

  std::string_view line() const { return line_; }
  std::size_t number() const { return number_; }  // counts all lines, from 1

 private:
  bool has_content() const { return !line_.empty() && line_.front() != '#'; }

  std::string_view rest_, line_;
  std::size_t number_ = 0;
};

// The first of these lines, or an empty one.
inline std::string_view first_content_line(std::string_view text) {
  ContentLines lines(text);
  return lines.next() ? lines.line() : std::string_view();
}

inline std::string join(const std::vector<std::string_view>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// "a, b and c", with that word before the last name.
inline std::string join(const std::vector<std::string>& names, std::string_view word) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : fmt::format(" {} ", word)) + names[i];
  return text;
}

// A hint that lists names; empty (no hint) if there are none.
inline std::string list_hint(fmt::format_string<std::string> hint,
                             const std::vector<std::string_view>& names) {
  return names.empty() ? std::string() : fmt::format(hint, join(names));
}

}  // namespace gpuaes
