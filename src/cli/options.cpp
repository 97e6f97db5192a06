#include "cli/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "cli/option_rules.hpp"
#include "cli/stream_options.hpp"
#include "format/format.hpp"
#include "format/parts/directory.hpp"
#include "terminal/version.hpp"

namespace gpuaes {
namespace {

using Level = Messages::Level;

std::string help_text() {
  return "usage: gpuaes-stream (-k FILE | -p | -r RECIPIENT | -R FILE)... [OPTION]...\n"
         "                     [FILE | -- COMMAND...]\n"
         "       gpuaes-stream (-d | --salvage) (-k FILE | -p)... [OPTION]... [FILE]\n"
         "       gpuaes-stream (--range OFFSET:[LENGTH] | --part I | --share I/N)\n"
         "                     (-k FILE | -p)... [OPTION]... FILE\n"
         "       gpuaes-stream -t (-k FILE | -p)... [OPTION]... [FILE]...\n"
         "       gpuaes-stream [-d] (-k FILE | -p | -r RECIPIENT | -R FILE)...\n"
         "                     [OPTION]... --output-dir DIR (FILE... | --files-from LIST)\n"
         "       gpuaes-stream --rekey (-k FILE | -p)... (--new-key FILE |\n"
         "                     --new-passphrase | -r RECIPIENT | -R FILE)...\n"
         "                     [OPTION]... [FILE]...\n"
         "       gpuaes-stream --export-header [-o FILE] FILE\n"
         "       gpuaes-stream --info [--json] [-f FORMAT] [FILE]...\n"
         "       gpuaes-stream --list-lanes | --completions SHELL | -V | -h\n\n"
         "Encrypt or decrypt FILE, or standard input, on CPUs or NVIDIA GPUs.\n\n" +
         format_options(stream_options) +
         "\nThe exit status is 0 for success, 1 for an I/O or system error, 2 for an\n"
         "invalid command line, key or passphrase, 3 if no given secret opens the input,\n"
         "and 4 for input that is damaged or not encrypted.\n"
         "\nExamples:\n"
         "  Make a key, encrypt an archive if tar succeeds, and unpack it again:\n"
         "    gpuaes-keygen -o key\n"
         "    gpuaes-stream -k key -o photos.sealed -- tar -c photos\n"
         "    gpuaes-stream -d -k key photos.sealed | tar -x\n\n"
         "  Encrypt a file with a passphrase:\n"
         "    gpuaes-stream -p disk.img -o disk.sealed\n\n"
         "  Encrypt for a recipient; only its identity can decrypt:\n"
         "    gpuaes-keygen --x25519 -o identity\n"
         "    tar -c photos | gpuaes-stream -R identity.pub >photos.age\n"
         "    gpuaes-stream -d -k identity <photos.age | tar -x\n\n"
         "See gpuaes-stream(1) for details.\n";
}

CompletedProgram completed_program() {
  return {.name = "gpuaes-stream",
          .options = option_texts(stream_options),
          .takes_files = true,
          .runs_command = true};
}

// Whether the input shows which secrets open it. Input from a terminal has not been typed yet.
bool shows_secrets(const Options& options) {
  const bool has_slots = options.format.named == nullptr || options.format.named->accepts.recipients;
  return options.decrypt && has_slots && (options.inputs.is_named() || isatty(STDIN_FILENO) == 0);
}

// Users of age expect an age file with -p alone.
bool makes_unexpected_format(const Options& options) {
  const SecretRequest& secrets = options.secrets;
  return !options.decrypt && secrets.named.ask_passphrase && secrets.named.key_files.empty() &&
         secrets.recipients.empty() && secrets.plugins.empty() && options.format.named == nullptr &&
         !options.format.cipher && !options.format.label;
}

StreamMode mode_of(const Options& options) {
  if (options.into) return IntoFile{std::get<Share>(*options.selection), *options.into};
  if (options.selection) return *options.selection;
  if (options.salvage) return Salvage{};
  return WholeInput{};
}

FilterRequest filter_request(const Options& options) {
  const bool is_part = options.selection && !std::holds_alternative<ByteRange>(*options.selection);
  const Level lists_from = options.inputs.several() ? Level::normal : Level::verbose;
  return {.secrets = secret_request(options),
          .inputs = options.inputs,
          .output = options.output,
          .stream = {.decrypt = options.decrypt,
                     .test = options.test,
                     .mode = mode_of(options),
                     .format = options.format,
                     .header = options.header,
                     .note_sealed = makes_unexpected_format(options),
                     .only_part = is_part && !options.test && !options.decrypt_explicitly},
          .lanes = options.lanes,
          .reports = options.reports,
          .progress = shows_progress(options),
          .list_verified = options.test && options.level >= lists_from};
}

RekeyRequest rekey_request(const Options& options, bool has_output) {
  SecretRequest new_secrets = options.new_secrets;
  new_secrets.purpose = Purpose::rekey;
  new_secrets.recipients = options.secrets.recipients;
  new_secrets.plugins = options.secrets.plugins;
  return {.old_secrets = secret_request(options),
          .new_secrets = std::move(new_secrets),
          .inputs = options.inputs,
          .output = options.output,
          .in_place = options.inputs.is_named() && !has_output,
          .format = options.format,
          .progress = shows_progress(options)};
}

Request request_of(const Options& options, bool has_output) {
  using Action = Options::Action;
  switch (options.action) {
    case Action::filter:
      return filter_request(options);
    case Action::info:
      return InfoRequest{options.inputs, options.format.named, options.json};
    case Action::export_header:
      return ExportHeaderRequest{options.inputs.first(), options.output, options.format.named};
    case Action::rekey:
      return rekey_request(options, has_output);
    case Action::completions:
      return PrintRequest{completions(completed_program(), options.shell)};
    case Action::help:
      return PrintRequest{help_text()};
    case Action::version:
      return PrintRequest{version_text("gpuaes-stream")};
    case Action::list_lanes:
      return ListLanesRequest{};
  }
  throw std::logic_error("unknown action");
}

// Whether the name of a file has the extension of another one.
bool ends_like_one_of(const std::string& name, const std::vector<std::string>& others) {
  const std::filesystem::path extension = std::filesystem::path(name).extension();
  return !extension.empty() && std::ranges::any_of(others, [&](const std::filesystem::path& other) {
    return other.extension() == extension;
  });
}

bool may_be_key(const std::string& name, const CommandLine& line) {
  const auto found = line.after_value.find(name);
  if (found == line.after_value.end()) return false;
  const std::string& option = found->second;
  return (option == "key" || option == "recipients-file") && ends_like_one_of(name, line.given.at(option));
}

Options options_of(const CommandLine& line) {
  Options options = read_options(stream_options, line.given);
  InputsRequest& inputs = options.inputs;
  if (!line.positional.empty() || inputs.list) inputs.named.clear();
  for (const std::string& name : line.positional) inputs.named.push_back(input_from(name));
  inputs.opens = options.decrypt || options.action == Options::Action::info;
  const bool takes_trees = accepts_several(options);
  for (InputRequest& input : inputs.named) {
    if (line.command) input.command = *line.command;
    input.is_tree = takes_trees && input.is_named() && is_tree(input.file.name, inputs.opens);
    input.may_be_key = may_be_key(input.file.name, line);
  }
  return options;
}

// One for each alternative of StreamMode.
struct OptionFor {
  const char* operator()(const WholeInput&) const { return ""; }
  const char* operator()(const Salvage&) const { return "--salvage"; }
  const char* operator()(const IntoFile&) const { return "--share"; }
  const char* operator()(const Selection& selection) const { return std::visit(*this, selection); }
  const char* operator()(const ByteRange&) const { return "--range"; }
  const char* operator()(const Share&) const { return "--share"; }
  const char* operator()(const PartNumber&) const { return "--part"; }
};

}  // namespace

const char* option_for(const StreamMode& mode) {
  return std::visit(OptionFor(), mode);
}

bool shows_progress(const Options& options) {
  return options.progress && options.level != Level::quiet;
}

// To decrypt, recipients are of no use; --rekey uses them for its new slots.
SecretRequest secret_request(const Options& options) {
  SecretRequest request = options.secrets;
  request.purpose = options.decrypt              ? Purpose::open
                    : options.encrypt_explicitly ? Purpose::seal_for_identities
                                                 : Purpose::seal;
  if (options.decrypt) request.recipients.clear();
  request.ask_if_needed = shows_secrets(options);
  return request;
}

bool accepts_several(const Options& options) {
  return options.test || options.action == Options::Action::info ||
         options.action == Options::Action::rekey || options.output.directory.has_value();
}

Parsed<Request> parse_options(int argc, const char* const* argv) {
  const CommandLine line = parse_command_line(argc, argv, option_texts(stream_options),
                                              {.max = Operands::any_number, .with_command = true});
  const Options options = options_of(line);
  check_rules(line, options);
  Parsed<Request> parsed{options.level, request_of(options, line.given.contains("output"))};
  if (options.old_share) parsed.note = "use --share I/N; a later release will no longer accept --part I/N";
  return parsed;
}

}  // namespace gpuaes
