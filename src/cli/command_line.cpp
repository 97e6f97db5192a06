#include "cli/command_line.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace gpuaes {

namespace po = boost::program_options;

constexpr char options_hint[] = "run with --help for a list of options";

CommandLine parse_command_line(int argc, const char* const* argv, const po::options_description& options,
                               std::size_t max_positional) {
  namespace style = po::command_line_style;
  try {
    // No abbreviations: a new option could change their meaning.
    const po::parsed_options parsed = po::command_line_parser(argc, argv)
                                          .options(options)
                                          .style(style::unix_style & ~style::allow_guessing)
                                          .run();
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
    // Shows only its name: "-K<hex>", in the style of openssl, contains a key.
    const std::string name = error.get_option_name();
    const std::size_t length = name.starts_with("--") ? name.find('=') : 2;
    const bool takes_nothing = options.find_nothrow(name.substr(0, length), false) != nullptr;
    throw UsageError(takes_nothing ? fmt::format("option '{}' does not take a value", name.substr(0, length))
                                   : fmt::format("unknown option '{}'", name.substr(0, length)),
                     options_hint);
  } catch (const po::error& error) {
    throw UsageError(error.what(), options_hint);
  }
}

void refuse_together(const po::variables_map& given, const char* a, const char* b) {
  if (given.contains(a) && given.contains(b))
    throw UsageError(fmt::format("--{} and --{} cannot be used together", a, b));
}

}  // namespace gpuaes
