// Any arguments are a request, or refused with one of the documented errors. The options of gpuage that were
// parsed can be written as arguments that are parsed as the same options. The lines of the input are the
// arguments.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "cli/age_options.hpp"
#include "cli/go_flags.hpp"
#include "cli/options.hpp"
#include "cli/parts_options.hpp"
#include "fuzz/fuzz.hpp"

namespace gpuaes {
namespace {

using Words = std::vector<std::string>;

template <class Parse>
auto parse(const Words& words, const Parse& parse_as) {
  std::vector<const char*> argv{"program"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return parse_as(static_cast<int>(argv.size()), argv.data());
}

Words words_of(const AgeOptions& options) {
  Words words;
  const auto put = [&words](std::string_view flag, const Words& values) {
    for (const std::string& value : values) words.push_back(fmt::format("--{}={}", flag, value));
  };
  for (const auto& [flag, on] : {std::pair("encrypt", options.encrypt),
                                 {"decrypt", options.decrypt},
                                 {"passphrase", options.passphrase},
                                 {"armor", options.armor},
                                 {"version", options.version}})
    put(flag, {on ? "true" : "false"});
  put("recipient", options.recipients);
  for (const NamedFile& file : options.recipients_files) put("recipients-file", {file.name});
  for (const NamedFile& file : options.identities) put("identity", {file.name});
  put("j", options.plugins);
  put("output", {options.output ? options.output->name : ""});
  words.insert(words.end(), {"--", options.input.name});
  return words;
}

// A recipient on the command line does not name a file, and nothing but the options names one.
void check(const AgeOptions& options, const FilterRequest& request) {
  const SecretRequest& secrets = request.secrets;
  require(std::ranges::count_if(secrets.recipients, [](const RecipientArgument& each) {
            return std::holds_alternative<NamedFile>(each);
          }) == std::ssize(options.recipients_files));
  require(std::ranges::equal(secrets.named.key_files, options.identities));
  require(std::ranges::equal(secrets.plugins, options.plugins, {}, &Argument::text));
  require(!secrets.named.passphrase_file && !secrets.named.passphrase_command);
  require(request.inputs.named.size() == 1 && request.inputs.first().command.empty());
  require(request.output.file == (request.output.force ? std::nullopt : options.output) &&
          !request.output.directory);
  require(request.stream.decrypt == options.decrypt);
}

void run_gpuage(const Words& words) {
  try {
    const AgeOptions options = parse(words, parse_age_options);
    require(parse(words_of(options), parse_age_options) == options);
    Messages messages("gpuage");
    messages.set_level(Messages::Level::quiet);
    check_age_options(options, messages);
    check(options, request_of(options));
  } catch (const FlagError&) {
  } catch (const UsageRequested&) {
  } catch (const AgeError&) {
  }
}

}  // namespace

void fuzz(std::span<const std::byte> input) {
  Words words;
  for (const std::string_view line : split(as_text(input), '\n')) words.emplace_back(line);
  run_gpuage(words);
  try {
    parse(words, parse_options);
  } catch (const UsageError&) {
  }
  try {
    parse(words, parse_parts_options);
  } catch (const UsageError&) {
  }
}

}  // namespace gpuaes
