#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <iterator>

#include "base/error.hpp"
#include "cli/suggestions.hpp"

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

UsageError unknown(const std::string& name, std::span<const OptionText> options) {
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
UsageError wrong_value(const std::string& name, const po::options_description& description,
                       std::span<const OptionText> options) {
  if (name.empty()) return unknown("--", options);
  try {
    const po::option_description* const option = description.find_nothrow(name.substr(2), true);
    if (option == nullptr) return unknown(name, options);
    const std::string long_name = "--" + option->long_name();
    if (option->semantic()->max_tokens() > 0) return missing_value(long_name, *option);
    const std::string_view asks = passphrase_option(option->long_name());
    return asks.empty() ? does_not_take_value(long_name) : exposed_passphrase(asks);
  } catch (const po::ambiguous_option& error) {
    return ambiguous(name, error);
  }
}

po::parsed_options parse(int argc, const char* const* argv, const po::options_description& description,
                         std::span<const OptionText> options) {
  try {
    return po::parse_command_line(argc, argv, description);
  } catch (const po::unknown_option& error) {
    if (contains_p(error.get_option_name(), description)) throw exposed_passphrase("-p");
    const std::string name = option_in(error.get_option_name());
    throw description.find_nothrow(name, false) != nullptr ? does_not_take_value(name)
                                                           : unknown(name, options);
  } catch (const po::invalid_command_line_syntax& error) {
    throw wrong_value(error.get_option_name(), description, options);
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

// The words up to a command.
CommandLine parse_words(int argc, const char* const* argv, std::span<const OptionText> options) {
  const po::options_description description = describe(options);
  // Boost would take time in proportion to the square of the number of files after the last option.
  const char* const* const end = argv + argc;
  const char* const* files = end;
  while (files - argv > 1 && files[-1][0] != '-') --files;
  if (files != end) ++files;  // may be the argument of that option
  const po::parsed_options parsed = parse(static_cast<int>(files - argv), argv, description, options);
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
      if (option.original_tokens.front().starts_with("--=")) throw unknown("--", options);
      std::ranges::for_each(option.value, add_word);
    }
  std::for_each(files, end, add_word);
  return line;
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv, std::span<const OptionText> options,
                               Operands allowed) {
  const char* const* const end = argv + argc;
  const char* const* const dashes = allowed.with_command ? std::find(argv, end, std::string_view("--")) : end;
  CommandLine line = parse_words(static_cast<int>(dashes - argv), argv, options);
  if (line.positional.size() > allowed.max)
    throw UsageError("too many arguments", allowed.with_command && dashes == end
                                               ? "put -- before a command, whose output is then the input"
                                               : options_hint);
  if (dashes != end) line.command.emplace(dashes + 1, end);
  return line;
}

void refuse_together(const GivenOptions& given, std::string_view a, std::string_view b) {
  if (given.contains(a) && given.contains(b))
    throw UsageError(fmt::format("--{} and --{} cannot be used together", a, b));
}

}  // namespace gpuaes
