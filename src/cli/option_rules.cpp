#include "cli/option_rules.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/suggestions.hpp"

namespace gpuaes {
namespace {

// Groups of options that exclude each other.
constexpr OptionNames exclusive[] = {
    "encrypt decrypt",
    "verbose quiet",
    "input files-from",
    "passphrase passphrase-file passphrase-command",
    "new-passphrase new-passphrase-file new-passphrase-command",
    "into test output",
    "into sparse",
    "test range",
    "salvage range part share",
    "test encrypt",
    "range encrypt",
    "part encrypt",
    "share encrypt",
    "salvage encrypt",
};

// The first of two options requires the second.
constexpr OptionNames dependencies[] = {
    "json info",     "null files-from",      "skip-existing output-dir",  "sparse output",
    "new-key rekey", "new-passphrase rekey", "new-passphrase-file rekey", "new-passphrase-command rekey",
};

// Actions that accept only some options.
struct Restriction {
  Options::Action action;
  const char* option;  // that requests it
  OptionNames accepted;
  const char* hint = "";
};
constexpr Restriction restrictions[] = {
    {Options::Action::info, "--info", "info json input files-from null format decrypt verbose quiet",
     "--info accepts only --input, --files-from, --null, --format, --decrypt, --json, --verbose and --quiet"},
    {Options::Action::export_header, "--export-header",
     "export-header input output force format verbose quiet"},
    {Options::Action::rekey, "--rekey",
     "rekey key passphrase passphrase-file passphrase-command recipient recipients-file plugin "
     "new-key new-passphrase new-passphrase-file new-passphrase-command input files-from null output force "
     "format armor label progress verbose quiet"},
};

constexpr OptionNames accepted_by_output_directory =
    "output-dir skip-existing files-from null encrypt decrypt key passphrase passphrase-file "
    "passphrase-command recipient recipients-file "
    "plugin input format cipher armor label lanes chunk-size progress verbose quiet stats";

// UsageError if an option is given that `mode` does not accept.
void refuse_others(const GivenOptions& given, std::string_view mode, const OptionNames& accepted,
                   const char* hint = "") {
  for (const auto& [name, arguments] : given)
    if (std::ranges::count(accepted.list(), name) == 0)
      throw UsageError(fmt::format("{} cannot be used with --{}", mode, name), hint);
}

constexpr OptionNames refused_with_command =
    "decrypt test range part share salvage info export-header rekey input files-from output-dir";

void refuse_action_as_input(const CommandLine& line) {
  if (line.positional.empty() || access(line.positional.front().c_str(), F_OK) == 0) return;
  for (const char* const word : {"encrypt", "decrypt", "verify"})
    if (line.positional.front() == word)
      throw UsageError(
          fmt::format("{} is not a file", word),
          fmt::format("perhaps you meant --{}", nearest_option(word, option_texts(stream_options))));
}

// The name is not shown: it may be a secret.
const char* hint_for_several(const std::string& first) {
  if (access(first.c_str(), F_OK) != 0) return "put -- before a command, and quote a value with spaces";
  return "-o, -k and -R each take one file; repeat -k or -R for another key or recipients file, and name the "
         "output with -o";
}

void check_inputs(const CommandLine& line, const Options& options) {
  refuse_second_input(line);
  refuse_action_as_input(line);
  if (options.inputs.list && !line.positional.empty())
    throw UsageError("--files-from cannot be used together with another input file");
  if (options.action == Options::Action::list_lanes && !line.positional.empty())
    throw UsageError("--list-lanes does not accept a file", "to describe a file, use --info");
  if (!options.inputs.several()) return;
  const bool accepted = accepts_several(options);
  if (!accepted && options.inputs.list)
    throw UsageError("--files-from requires --output-dir, --test, --info or --rekey");
  if (!accepted)
    throw UsageError(
        "more than one input file was given; only --output-dir, --test, --info and --rekey accept several",
        hint_for_several(line.positional.front()));
  if (options.action == Options::Action::rekey && line.given.contains("output"))
    throw UsageError("--rekey of several files cannot be used with --output");
  for (const char* name : {"stats", "trace", "header"})
    if (line.given.contains(name) && !options.output.directory)
      throw UsageError(fmt::format("--{} requires a single input", name));
}

void check_output_directory(const CommandLine& line, const Options& options) {
  if (!options.output.directory) return;
  refuse_others(line.given, "--output-dir", accepted_by_output_directory);
  if (!options.inputs.is_named()) throw UsageError("--output-dir requires the names of files");
  if (!std::ranges::all_of(options.inputs.named, &InputRequest::is_named))
    throw UsageError("--output-dir cannot be used with standard input, which has no name");
  const Format* const format = options.format.named;
  if (format != nullptr && !format->accepts.recipients)
    throw UsageError(fmt::format("--output-dir cannot be used with the {} format", format->name),
                     "--output-dir is for sealed files and age files");
}

constexpr char command_hint[] = "what follows -- is a command whose output is encrypted";

}  // namespace

void check_command(const CommandLine& line, const OptionNames& refused) {
  if (!line.command) return;
  if (line.command->empty()) throw UsageError("no command follows --", command_hint);
  for (const std::string_view name : refused.list())
    if (line.given.contains(name))
      throw UsageError(fmt::format("--{} cannot be used with a command", name), command_hint);
}

void check_rules(const CommandLine& line, const Options& options) {
  const GivenOptions& given = line.given;
  check_command(line, refused_with_command);
  if (line.command && !line.positional.empty())
    throw UsageError("an input file cannot be used with a command", command_hint);
  check_inputs(line, options);
  check_output_directory(line, options);
  for (const Restriction& each : restrictions)
    if (options.action == each.action) refuse_others(given, each.option, each.accepted, each.hint);
  if (options.header && !options.decrypt) throw UsageError("--header requires --decrypt or --test");
  for (const OptionNames& pair : dependencies) {
    const std::vector<std::string_view> names = pair.list();
    if (given.contains(names[0]) && !given.contains(names[1]))
      throw UsageError(fmt::format("--{} requires --{}", names[0], names[1]));
  }
  check_shared_rules(given);
  const Format* const format = options.format.named;
  if (given.contains("rekey") && format != nullptr && format->rekey == nullptr)
    throw UsageError(fmt::format("the keys of the {} format cannot be replaced", format->name),
                     "--rekey replaces the keys of sealed files and age files");
  for (const char* name : {"recipient", "recipients-file"})
    if (given.contains(name) && options.decrypt && !given.contains("rekey"))
      throw UsageError(fmt::format("--{} cannot be used to decrypt", name), "name the identity file with -k");
  if (options.into && !(options.selection && std::holds_alternative<Share>(*options.selection)))
    throw UsageError("--into requires --share");
  if (options.output.sparse && !options.decrypt) throw UsageError("--sparse cannot be used to encrypt");
  if (options.format.armor && options.decrypt && !given.contains("rekey"))
    throw UsageError("--armor cannot be used to decrypt", "armored input is detected");
}

void refuse_second_input(const CommandLine& line) {
  if (!line.positional.empty() && line.given.contains("input"))
    throw UsageError("--input cannot be used together with another input file",
                     "name the input only once, and a key or identity file with -k");
}

void check_shared_rules(const GivenOptions& given) {
  for (const OptionNames& group : exclusive) {
    const std::vector<std::string_view> names = group.list();
    for (auto a = names.begin(); a != names.end(); ++a)
      for (auto b = a + 1; b != names.end(); ++b) refuse_together(given, *a, *b);
  }
  for (const char* name : {"stats", "trace", "into", "receipt"})
    if (given.contains(name) && given.at(name).front() == standard_name)
      throw UsageError(fmt::format("--{} requires a file name, not -", name),
                       "use /dev/stdout or /dev/stderr for standard output or standard error");
}

}  // namespace gpuaes
