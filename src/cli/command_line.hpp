// Parses command lines with Boost.Program_options, given a table with a row for each option. The help text is
// made from the same table.
#pragma once

#include <array>
#include <boost/program_options.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/help.hpp"

namespace gpuaes {

struct CommandLine {
  boost::program_options::variables_map given;
  std::vector<std::string> positional;  // neither options nor their values
};

// The value of an option without an argument: how many times it was given.
struct Times {
  std::size_t count = 0;
};
// Called by Boost.Program_options each time.
void validate(boost::any& value, const std::vector<std::string>& tokens, Times*, int);

// Adds an option, which has an argument unless that is nullptr. If the argument is missing, the error shows
// the first sentence of `help`.
void add_option(boost::program_options::options_description& description, const char* names,
                const char* argument, const char* help, bool repeats = false);

// `argv` begins with the name of the program or of the command. A long option may be shortened as long as it
// is unambiguous. UsageError if the command line is malformed, contains a passphrase, or has more than
// `max_positional` positional arguments.
CommandLine parse_command_line(int argc, const char* const* argv,
                               const boost::program_options::options_description& options,
                               std::size_t max_positional = 0);

// UsageError if both options are given.
void refuse_together(const boost::program_options::variables_map& given, const std::string& a,
                     const std::string& b);

// Lists the words that an argument can be.
using Words = std::vector<std::string_view>();

template <const auto& names>
std::vector<std::string_view> words_in() {
  return {names.begin(), names.end()};
}

// What help and completions show about an option.
struct OptionText {
  const char* names;     // as Boost.Program_options takes them: "decrypt,d"
  const char* argument;  // a placeholder, such as FILE; nullptr for an option without an argument
  const char* help;
  Words* words = nullptr;  // for completions; nullptr if the argument is not one of a few words
  bool repeats = false;    // its argument may be given several times; an option without one always may
};

// An option of a program whose options are stored in a Target.
template <class Target>
struct OptionRow {
  const char* names;  // this and the next two: as in OptionText
  const char* argument;
  const char* help;
  void (*set)(Target& target, const std::string& argument);  // UsageError
  bool repeats = false;                                      // this and the next: as in OptionText
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
void turn_on(Target& target, const std::string&) {
  field_of<path...>(target) = true;
}
template <auto... path, class Target>
void set_text(Target& target, const std::string& text) {
  field_of<path...>(target) = text;
}
template <auto... path, class Target>
void add_text(Target& target, const std::string& text) {
  field_of<path...>(target).push_back(text);
}
template <auto field, auto parse, class Target>
void set_parsed(Target& target, const std::string& text) {
  target.*field = parse(text);
}

template <class Target, std::size_t count>
boost::program_options::options_description describe(const std::array<OptionGroup<Target>, count>& groups) {
  boost::program_options::options_description description;
  for (const OptionGroup<Target>& group : groups)
    for (const OptionRow<Target>& row : group.rows)
      add_option(description, row.names, row.argument, row.help, row.repeats);
  return description;
}

// The list of options, formatted for help on standard output.
template <class Target, std::size_t count>
std::string format_options(const std::array<OptionGroup<Target>, count>& groups) {
  std::vector<HelpSection> sections;
  for (const OptionGroup<Target>& group : groups) {
    HelpSection section{group.title, {}};
    for (const OptionRow<Target>& row : group.rows)
      section.rows.push_back({option_term(row.names, row.argument), row.help});
    sections.push_back(std::move(section));
  }
  return format_help(sections, help_columns());
}

// The target with the given options set, in the order of the rows.
template <class Target, std::size_t count>
Target read_options(const std::array<OptionGroup<Target>, count>& groups,
                    const boost::program_options::variables_map& given) {
  Target target;
  for (const OptionGroup<Target>& group : groups)
    for (const OptionRow<Target>& row : group.rows) {
      const std::string name(long_name(row.names));
      if (!given.contains(name)) continue;
      const boost::program_options::variable_value& value = given[name];
      if (row.argument == nullptr)
        for (std::size_t i = 0; i < value.template as<Times>().count; ++i) row.set(target, {});
      else if (row.repeats)
        for (const std::string& each : value.template as<std::vector<std::string>>()) row.set(target, each);
      else
        row.set(target, value.template as<std::string>());
    }
  return target;
}

}  // namespace gpuaes
