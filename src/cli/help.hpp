// Help texts: lists of options and commands in two columns, as wide as the terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuaes {

// An option or a command, and what it does.
struct HelpRow {
  std::string term;  // "-k, --key FILE"
  std::string text;
};

struct HelpSection {
  std::string title;
  std::vector<HelpRow> rows;
};

// "key" and "k" for the option that Boost.Program_options calls "key,k". The letter may be empty.
constexpr std::string_view long_name(std::string_view names) {
  return names.substr(0, names.find(','));
}
std::string_view letter(std::string_view names);

// "-k, --key FILE" for the option that Boost.Program_options calls "key,k". `argument` may be nullptr.
std::string option_term(std::string_view names, const char* argument);

// The first sentence of a text, without its period.
std::string_view first_sentence(std::string_view text);

// The width of help on standard output, at most 100 columns: COLUMNS if it is set, otherwise the width of the
// terminal, or 80 if standard output is not a terminal.
std::size_t help_columns();

// The sections, with an empty line between them and all texts in one column.
std::string format_help(std::span<const HelpSection> sections, std::size_t columns);

}  // namespace gpuaes
