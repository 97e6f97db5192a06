#include "cli/command_line.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace gpuaes {

namespace po = boost::program_options;

namespace {

constexpr char options_hint[] = "run with --help for a list of options";

// The option in a word of the command line, without what follows: "-K<hex>", in the style of openssl,
// contains a key.
std::string option_in(const std::string& word) {
  return word.substr(0, word.starts_with("--") ? word.find('=') : 2);
}

UsageError ambiguous(const po::ambiguous_option& error) {
  std::vector<std::string> names;
  for (const std::string& name : error.alternatives()) names.push_back(fmt::format("--{}", name));
  const std::string last = names.back();
  names.pop_back();
  return UsageError(fmt::format("option '{}' is ambiguous: {} or {}", option_in(error.get_option_name()),
                                fmt::join(names, ", "), last));
}

}  // namespace

void validate(boost::any& value, const std::vector<std::string>&, Times*, int) {
  if (value.empty()) value = Times{};
  ++boost::any_cast<Times&>(value).count;
}

void add_option(po::options_description& description, const char* names, const char* argument, bool repeats) {
  auto add = description.add_options();
  if (argument == nullptr)
    add(names, po::value<Times>()->zero_tokens(), "");
  else if (repeats)
    add(names, po::value<std::vector<std::string>>(), "");
  else
    add(names, po::value<std::string>(), "");
}

CommandLine parse_command_line(int argc, const char* const* argv, const po::options_description& options,
                               std::size_t max_positional) {
  try {
    const po::parsed_options parsed = po::parse_command_line(argc, argv, options);
    CommandLine line;
    po::store(parsed, line.given);
    for (const po::option& option : parsed.options)
      if (option.position_key >= 0)
        line.positional.insert(line.positional.end(), option.value.begin(), option.value.end());
    if (line.positional.size() > max_positional)
      throw UsageError(fmt::format("unexpected argument '{}'", line.positional[max_positional]),
                       options_hint);
    return line;
  } catch (const po::unknown_option& error) {
    const std::string name = option_in(error.get_option_name());
    const bool takes_nothing = options.find_nothrow(name, false) != nullptr;
    throw UsageError(takes_nothing ? fmt::format("option '{}' does not take a value", name)
                                   : fmt::format("unknown option '{}'", name),
                     options_hint);
  } catch (const po::ambiguous_option& error) {
    throw ambiguous(error);
  } catch (const po::error& error) {
    throw UsageError(error.what(), options_hint);
  }
}

void refuse_together(const po::variables_map& given, const char* a, const char* b) {
  if (given.contains(a) && given.contains(b))
    throw UsageError(fmt::format("--{} and --{} cannot be used together", a, b));
}

}  // namespace gpuaes
