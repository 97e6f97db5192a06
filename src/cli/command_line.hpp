// Parses command lines with Boost.Program_options, given a table with a row for each option. The help text is
// made from the same table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cli/help.hpp"
#include "files/named_file.hpp"

namespace gpuaes {

// Lists the words that an argument can be.
using Words = std::vector<std::string_view>();

template <const auto& names>
std::vector<std::string_view> words_in() {
  return {names.begin(), names.end()};
}

// How an option is parsed, and what help and completions show about it.
struct OptionText {
  const char* names;     // as Boost.Program_options takes them: "decrypt,d"
  const char* argument;  // a placeholder, such as FILE; nullptr for an option without an argument
  const char* help;
  Words* words = nullptr;  // for completions; nullptr if the argument is not one of a few words
  bool repeats = false;    // its argument may be given several times; an option without one always may
};

// The arguments of the options that were given, by the long name. An option without an argument has an
// empty one for each time that it was given.
using GivenOptions = std::map<std::string, std::vector<std::string>, std::less<>>;

struct CommandLine {
  GivenOptions given;
  std::vector<std::string> positional;               // neither options nor their values
  std::map<std::string, std::string> after_value{};  // the option whose value precedes a word of `positional`
  std::optional<std::vector<std::string>> command{};  // what follows --
};

// What may be on a command line besides options.
struct Operands {
  static constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

  std::size_t max = 0;        // positional arguments
  bool with_command = false;  // after --
};

// `argv` begins with the name of the program or of the command. A long option may be shortened as long as it
// is unambiguous. UsageError if the command line is malformed, contains a passphrase, or has too many
// positional arguments.
CommandLine parse_command_line(int argc, const char* const* argv, std::span<const OptionText> options,
                               Operands allowed = {});

// UsageError if both options are given.
void refuse_together(const GivenOptions& given, std::string_view a, std::string_view b);

// An option of a program whose options are stored in a Target.
template <class Target>
struct OptionRow {
  const char* names;  // this and the next two: as in OptionText
  const char* argument;
  const char* help;
  // `option` is its name with dashes, for messages. UsageError.
  void (*set)(Target& target, const std::string& argument, const std::string& option);
  bool repeats = false;  // this and the next: as in OptionText
  Words* words = nullptr;
};

// The options for one task, which help lists under a title.
template <class Target>
struct OptionGroup {
  const char* title;
  std::span<const OptionRow<Target>> rows;
};

// A field of the target, or a field of that: target.*a, or target.*a.*b.
template <auto... path, class Target>
auto& field_of(Target& target) {
  return (target.*....*path);
}

// Functions for OptionRow::set, for a field that `path` leads to.
template <auto... path, class Target>
void turn_on(Target& target, const std::string&, const std::string&) {
  field_of<path...>(target) = true;
}
template <auto... path, class Target>
void set_text(Target& target, const std::string& text, const std::string&) {
  field_of<path...>(target) = text;
}
template <auto parse, auto... path, class Target>
void set_parsed(Target& target, const std::string& text, const std::string&) {
  field_of<path...>(target) = parse(text);
}

// The same for text or a file that messages name with its option.
template <auto... path, class Target>
void set_named(Target& target, const std::string& text, const std::string& option) {
  field_of<path...>(target) = {text, option};
}
template <auto... path, class Target>
void set_secret_file(Target& target, const std::string& name, const std::string& option) {
  field_of<path...>(target) = {name, option, NamedFile::Kind::secret};
}
template <auto... path, class Target>
void add_secret_file(Target& target, const std::string& name, const std::string& option) {
  field_of<path...>(target).push_back({name, option, NamedFile::Kind::secret});
}

// The same for an output; none for standard output.
template <auto... path, class Target>
void set_output(Target& target, const std::string& name, const std::string& option) {
  field_of<path...>(target) = name == standard_name ? std::nullopt : std::optional(NamedFile{name, option});
}

template <class Target>
OptionText text_of(const OptionRow<Target>& row) {
  return {row.names, row.argument, row.help, row.words, row.repeats};
}
template <class Target, std::size_t count>
std::vector<OptionText> option_texts(const std::array<OptionGroup<Target>, count>& groups) {
  std::vector<OptionText> texts;
  for (const OptionGroup<Target>& group : groups)
    for (const OptionRow<Target>& row : group.rows) texts.push_back(text_of(row));
  return texts;
}

inline HelpRow help_row(const OptionText& option) {
  return {option_term(option.names, option.argument), option.help};
}

// The list of options, formatted for help on standard output.
template <class Target, std::size_t count>
std::string format_options(const std::array<OptionGroup<Target>, count>& groups) {
  std::vector<HelpSection> sections;
  for (const OptionGroup<Target>& group : groups) {
    HelpSection section{group.title, {}};
    for (const OptionRow<Target>& row : group.rows) section.rows.push_back(help_row(text_of(row)));
    sections.push_back(std::move(section));
  }
  return format_help(sections, help_columns());
}

// Sets the given options in `target`, in the order of the rows.
template <class Target>
void read_rows(std::span<const OptionRow<Target>> rows, const GivenOptions& given, Target& target) {
  for (const OptionRow<Target>& row : rows)
    if (const auto found = given.find(long_name(row.names)); found != given.end())
      for (const std::string& argument : found->second) row.set(target, argument, "--" + found->first);
}
template <class Target, std::size_t count>
Target read_options(const std::array<OptionGroup<Target>, count>& groups, const GivenOptions& given) {
  Target target;
  for (const OptionGroup<Target>& group : groups) read_rows(group.rows, given, target);
  return target;
}

}  // namespace gpuaes
