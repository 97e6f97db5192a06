#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <iterator>

#include "base/error.hpp"
#include "cli/option_values.hpp"

namespace gpuaes {

namespace po = boost::program_options;

namespace {

constexpr char options_hint[] = "run with --help for a list of options";

// The option in a word of the command line, without what follows: "-K<hex>", in the style of openssl,
// contains a key.
std::string option_in(const std::string& word) {
  return word.substr(0, word.starts_with("--") ? word.find('=') : 2);
}

UsageError ambiguous(const std::string& name, const po::ambiguous_option& error) {
  std::vector<std::string> names;
  for (const std::string& option : error.alternatives()) names.push_back(fmt::format("--{}", option));
  const std::string last = names.back();
  names.pop_back();
  return UsageError(fmt::format("option '{}' is ambiguous: {} or {}", name, fmt::join(names, ", "), last));
}

// The number of letters to insert, delete, replace or exchange with the next one to turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& edits = table[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      const std::size_t replaced = a[i - 1] == b[j - 1] ? 0 : 1;
      edits = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits = std::min(edits, table[i - 2][j - 2] + 1);
    }
  return table.back().back();
}

// Options of other programs, the options that do the same, and what to show.
struct OtherName {
  std::string_view word;
  const char* option;
  std::string_view shown;
};
constexpr std::array other_names{
    OtherName{"identity", "key", "key"},
    OtherName{"verify", "test", "test"},
    OtherName{"dry-run", "test", "test, which decrypts and writes nothing"},
    OtherName{"gpu", "lanes", "lanes cuda"},
    OtherName{"threads", "lanes", "lanes cpu:N"},
    OtherName{"T", "lanes", "lanes cpu:N"},
    OtherName{"jobs", "lanes", "lanes cpu:N"},
    OtherName{"resume", "skip-existing", "output-dir with --skip-existing"},
    OtherName{"continue", "skip-existing", "output-dir with --skip-existing"},
    OtherName{"recursive", "output-dir", "output-dir"},
    OtherName{"pq", "post-quantum", "post-quantum"},
    OtherName{"pq", "recipient", "recipient, with a recipient from gpuaes-keygen --post-quantum"},
    OtherName{"post-quantum", "recipient", "recipient, with a recipient from gpuaes-keygen --post-quantum"}};

// The nearest option that begins like `word`, or differs from it in at most a third of the letters.
std::string nearest_option(std::string_view word, const po::options_description& options) {
  constexpr std::size_t same_letters = 4;
  std::string nearest;
  std::size_t fewest_edits = std::string::npos;
  for (const OtherName& other : other_names)
    if (other.word == word && options.find_nothrow(other.option, false) != nullptr)
      return std::string(other.shown);
  for (const auto& option : options.options()) {
    const std::string& name = option->long_name();
    const std::size_t edits = edit_distance(word, name);
    const bool is_near = word.starts_with(name.substr(0, same_letters)) ||
                         edits <= std::max<std::size_t>(std::max(word.size(), name.size()) / 3, 1);
    if (!is_near || edits >= fewest_edits) continue;
    nearest = name;
    fewest_edits = edits;
  }
  return nearest;
}

UsageError unknown(const std::string& name, const po::options_description& options) {
  const std::string nearest = nearest_option(name.substr(name.starts_with("--") ? 2 : 1), options);
  return UsageError(fmt::format("unknown option '{}'", name),
                    nearest.empty() ? options_hint : fmt::format("perhaps you meant --{}", nearest));
}

UsageError missing_value(const std::string& name, const po::option_description& option) {
  return UsageError(
      fmt::format("option '{}' requires a value", name),
      fmt::format("{} {}: {}", name, option.format_parameter(), first_sentence(option.description())));
}

UsageError does_not_take_value(const std::string& name) {
  return UsageError(fmt::format("option '{}' does not take a value", name), options_hint);
}

// Passphrases on the command line ------------------------------------------------------------------

// The short form of an option that asks for a passphrase; "" for other options.
std::string_view passphrase_option(std::string_view name) {
  if (name == "passphrase") return "-p";
  return name == "new-passphrase" ? "--new-passphrase" : "";
}

// Whether -p is one of the short options in a word.
bool contains_p(const std::string& word, const po::options_description& options) {
  if (!word.starts_with('-') || word.starts_with("--")) return false;
  for (const char letter : word.substr(1)) {
    const po::option_description* const option = options.find_nothrow({'-', letter}, false);
    if (option == nullptr || option->semantic()->max_tokens() > 0) return false;
    if (passphrase_option(option->long_name()) == "-p") return true;
  }
  return false;
}

UsageError exposed_passphrase(std::string_view option) {
  return UsageError("a passphrase was given on the command line, where other users may have seen it",
                    fmt::format("choose another passphrase, and use {} alone to enter it", option));
}

// A passphrase is never shown, not even as a part of a message about something else.
void refuse_exposed_passphrase(const std::vector<po::option>& given, const po::options_description& options) {
  for (auto option = given.begin(); option != given.end(); ++option) {
    const bool is_attached = option->original_tokens.size() == 1 && !option->value.empty();
    if (is_attached && contains_p(option->original_tokens.front(), options))
      throw exposed_passphrase("-p");  // -pfoo is -p -f oo
    if (option->position_key < 0 || option == given.begin()) continue;
    const po::option& last = *std::prev(option);
    const std::string_view asks =
        contains_p(last.original_tokens.front(), options) ? "-p" : passphrase_option(last.string_key);
    const std::string& word = option->value.front();
    if (!asks.empty() && word != standard_name && access(word.c_str(), F_OK) != 0)
      throw UsageError(fmt::format("the word after {} is not the name of a file", asks),
                       "correct the name; if the word is a passphrase, other users may have seen it, so "
                       "choose another");
  }
}

po::options_description describe(std::span<const OptionText> options) {
  po::options_description description;
  for (const OptionText& option : options)
    if (option.argument == nullptr)
      description.add_options()(option.names, option.help);
    else
      description.add_options()(option.names, po::value<std::string>()->value_name(option.argument),
                                option.help);
  return description;
}

// What is wrong with an option that has an empty value, or lacks one. `name` may be a
// prefix, or empty for "--=".
UsageError wrong_value(const std::string& name, const po::options_description& options) {
  if (name.empty()) return unknown("--", options);
  try {
    const po::option_description* const option = options.find_nothrow(name.substr(2), true);
    if (option == nullptr) return unknown(name, options);
    const std::string long_name = "--" + option->long_name();
    if (option->semantic()->max_tokens() > 0) return missing_value(long_name, *option);
    const std::string_view asks = passphrase_option(option->long_name());
    return asks.empty() ? does_not_take_value(long_name) : exposed_passphrase(asks);
  } catch (const po::ambiguous_option& error) {
    return ambiguous(name, error);
  }
}

po::parsed_options parse(int argc, const char* const* argv, const po::options_description& options) {
  try {
    return po::parse_command_line(argc, argv, options);
  } catch (const po::unknown_option& error) {
    if (contains_p(error.get_option_name(), options)) throw exposed_passphrase("-p");
    const std::string name = option_in(error.get_option_name());
    throw options.find_nothrow(name, false) != nullptr ? does_not_take_value(name) : unknown(name, options);
  } catch (const po::invalid_command_line_syntax& error) {
    throw wrong_value(error.get_option_name(), options);
  } catch (const po::ambiguous_option& error) {
    throw ambiguous(option_in(error.get_option_name()), error);
  } catch (const po::error& error) {
    throw UsageError(error.what(), options_hint);
  }
}

void add_option(GivenOptions& given, const po::option& option, std::span<const OptionText> options) {
  const auto text = std::ranges::find(options, option.string_key,
                                      [](const OptionText& each) { return long_name(each.names); });
  std::vector<std::string>& arguments = given[option.string_key];
  if (!arguments.empty() && text->argument != nullptr && !text->repeats)
    throw UsageError(fmt::format("option '--{}' cannot be specified more than once", option.string_key),
                     options_hint);
  arguments.push_back(text->argument == nullptr ? "" : option.value.front());
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv, std::span<const OptionText> options,
                               std::size_t max_positional) {
  const po::options_description description = describe(options);
  // Boost would take time in proportion to the square of the number of files after the last option.
  const char* const* const end = argv + argc;
  const char* const* files = end;
  while (files - argv > 1 && files[-1][0] != '-') --files;
  if (files != end) ++files;  // may be the argument of that option
  const po::parsed_options parsed = parse(static_cast<int>(files - argv), argv, description);
  refuse_exposed_passphrase(parsed.options, description);
  CommandLine line;
  std::string last;  // the option whose value the last word was
  const auto add_word = [&](const std::string& word) {
    if (!last.empty()) line.after_value.emplace(word, std::exchange(last, {}));
    line.positional.push_back(word);
  };
  for (const po::option& option : parsed.options)
    if (option.position_key < 0) {
      add_option(line.given, option, options);
      last = option.original_tokens.size() == 2 ? option.string_key : "";
    } else {
      if (option.original_tokens.front().starts_with("--=")) throw unknown("--", description);
      std::ranges::for_each(option.value, add_word);
    }
  std::for_each(files, end, add_word);
  if (line.positional.size() > max_positional) throw UsageError("too many arguments", options_hint);
  return line;
}

CommandLine parse_with_command(int argc, const char* const* argv, std::span<const OptionText> options,
                               std::size_t max_positional) {
  const char* const* const end = argv + argc;
  const char* const* const dashes = std::find(argv, end, std::string_view("--"));
  const int count = static_cast<int>(dashes - argv);
  CommandLine line = parse_command_line(count, argv, options, static_cast<std::size_t>(count));
  if (line.positional.size() > max_positional)
    throw UsageError("too many arguments", "put -- before a command, whose output is then the input");
  if (dashes != end) line.command.emplace(dashes + 1, end);
  return line;
}

void refuse_together(const GivenOptions& given, std::string_view a, std::string_view b) {
  if (given.contains(a) && given.contains(b))
    throw UsageError(fmt::format("--{} and --{} cannot be used together", a, b));
}

}  // namespace gpuaes
