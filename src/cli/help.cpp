#include "cli/help.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/text.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t max_columns = 100, min_columns = 20;
constexpr std::size_t indent = 2, gap = 2;
// The text of a term longer than max_term begins on the next line. If less than min_text columns remain, all
// texts do.
constexpr std::size_t max_term = 28, min_text = 32;
constexpr std::size_t text_below_term = 10;

std::optional<std::size_t> columns_from_environment() {
  const char* const value = std::getenv("COLUMNS");
  if (value == nullptr) return std::nullopt;
  const std::optional<std::size_t> columns = parse_number<std::size_t>(value);
  return columns != std::size_t{0} ? columns : std::nullopt;
}

std::size_t text_column(std::span<const HelpSection> sections, std::size_t columns) {
  std::size_t longest = 0;
  for (const HelpSection& section : sections)
    for (const HelpRow& row : section.rows)
      if (row.term.size() <= max_term) longest = std::max(longest, row.term.size());
  const std::size_t column = indent + longest + gap;
  return column + min_text <= columns ? column : text_below_term;
}

void add_row(std::string& help, const HelpRow& row, std::size_t column, std::size_t columns) {
  std::string line = std::string(indent, ' ') + row.term;
  const auto end_line = [&] {
    help.append(line).append("\n");
    line.clear();
  };
  if (line.size() + gap > column) end_line();
  for (std::string_view rest = row.text; !rest.empty();) {
    const std::size_t length = std::min(rest.find(' '), rest.size());
    if (line.size() > column && line.size() + 1 + length > columns) end_line();
    line.append(line.size() < column ? column - line.size() : 1, ' ').append(rest.substr(0, length));
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  end_line();
}

}  // namespace

std::string_view letter(std::string_view names) {
  return names.substr(std::min(long_name(names).size() + 1, names.size()));
}

std::string option_term(std::string_view names, const char* argument) {
  std::string term = letter(names).empty() ? "    " : fmt::format("-{}, ", letter(names));
  term.append("--").append(long_name(names));
  return argument == nullptr ? term : fmt::format("{} {}", term, argument);
}

std::string_view first_sentence(std::string_view text) {
  text = text.substr(0, text.find(". "));
  if (text.ends_with('.')) text.remove_suffix(1);
  return text;
}

std::size_t help_columns() {
  std::optional<std::size_t> columns = columns_from_environment();
  if (!columns) columns = terminal_columns(STDOUT_FILENO);
  return std::clamp(columns.value_or(default_columns), min_columns, max_columns);
}

std::string format_help(std::span<const HelpSection> sections, std::size_t columns) {
  const std::size_t column = text_column(sections, columns);
  std::string help;
  for (const HelpSection& section : sections) {
    if (!help.empty()) help += "\n";
    help.append(section.title).append(":\n");
    for (const HelpRow& row : section.rows) add_row(help, row, column, columns);
  }
  return help;
}

}  // namespace gpuaes
