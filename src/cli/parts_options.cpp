#include "cli/parts_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cli/command_line.hpp"
#include "cli/completions.hpp"
#include "cli/option_rules.hpp"

namespace gpuaes {
namespace {

namespace po = boost::program_options;

using Action = PartsOptions::Action;
using Row = OptionRow<Options>;
using Group = OptionGroup<Options>;

struct Command {
  Action action;
  const char* name;
  const char* synopsis;  // in the help, after the name
  const char* text;      // in the help
  std::vector<const char*> required;
  std::vector<Row> rows;
  std::size_t max_operands = 0;  // if any are allowed, at least one is required
};

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

// Rows of gpuaes-parts alone; the others are rows of gpuaes-stream.
constexpr Row job{"job", "FILE", "The job file, which plan wrote.", set_text<&Options::job>};
constexpr Row new_job{"output,o", "FILE",
                      "Write the job file, which must not exist; only its owner can read it.",
                      set_parsed<&Options::output, parse_output>};
constexpr Row sealing_cipher{"cipher,c",
                             "CIPHER",
                             "aes-256 (the default) or kuznyechik.",
                             set_parsed<&Options::cipher, parse_cipher>,
                             false,
                             cipher_names};
constexpr Row new_label{"label", "TEXT", "Bind the file to TEXT, which is then required to decrypt it.",
                        set_parsed<&Options::label, parse_label>};
constexpr Row label{"label", "TEXT", "The label of the sealed file.",
                    set_parsed<&Options::label, parse_label>};
constexpr Row sealing_key{"key,k", "FILE", "Encrypt for the key in FILE. Can be repeated.",
                          add_text<&Options::key_files>, true};
constexpr Row opening_key{"key,k", "FILE", "Read a key or an identity from FILE. Can be repeated.",
                          add_text<&Options::key_files>, true};
constexpr Row part_to_seal{
    "part", "I/N",
    "Seal part I of N of an input that is a file; or, with I alone, all of the input as part I. Parts are "
    "numbered from 0.",
    set_parsed<&Options::part, parse_part>};
constexpr Row part_to_open{"part", "I", "The number of the part.", set_parsed<&Options::part, parse_part>};
constexpr Row input{"input,i", "FILE", "Read FILE instead of standard input (-).",
                    [](Options& options, const std::string& name) {
                      options.inputs = {name};
                      options.input_option = "--input";
                    }};
constexpr Row new_part{"output,o", "FILE", "Write the part to FILE, which is not replaced if it exists.",
                       set_parsed<&Options::output, parse_output>};
constexpr Row receipt{"receipt", "FILE", "Also write a receipt of the part to FILE, for join --receipts.",
                      set_text<&Options::receipt>};
constexpr Row count{"count", "N", "Require exactly N parts. May be omitted only if they were cut as I/N.",
                    set_parsed<&Options::count, parse_part_count>};
constexpr Row ends_to_write{"ends", "PREFIX",
                            "Write only PREFIX.head and PREFIX.index, which go before and after the parts.",
                            set_text<&Options::ends>};
constexpr Row ends_to_read{"ends", "PREFIX", "Read PREFIX.head and PREFIX.index, which join wrote.",
                           set_text<&Options::ends>};
constexpr Row receipts{"receipts", nullptr, "With --ends: read receipts instead of parts.",
                       turn_on<&Options::receipts>};
constexpr Row help{"help,h", nullptr, "Print this help and exit.", [](Options&, const std::string&) {}};

std::vector<Row> rows_of(std::vector<Row> own, std::initializer_list<std::string_view> shared) {
  for (const std::string_view name : shared) own.push_back(stream_option(name));
  own.push_back(help);
  return own;
}

// To add an option: add its row to each command that accepts it, and document it in man/gpuaes-parts.1, where
// a test expects the same order.
std::span<const Command> commands() {
  static const std::array all{
      Command{Action::plan,
              "plan",
              "(-k FILE | -p | -r RECIPIENT)... [OPTION]... -o JOB",
              "Write the job file of a new sealed file.",
              {"output"},
              rows_of({new_job, sealing_cipher, new_label, sealing_key},
                      {"passphrase", "passphrase-file", "passphrase-command", "recipient", "recipients-file",
                       "quiet"})},
      Command{Action::seal,
              "seal",
              "--job JOB --part I/N [-i FILE] -o PART [OPTION]...",
              "Seal one part.",
              {"job", "part", "output"},
              rows_of({job, part_to_seal, input, new_part, receipt},
                      {"lanes", "threads", "kernel", "chunk-size", "progress", "size", "verbose", "quiet",
                       "stats", "trace"})},
      Command{Action::join,
              "join",
              "--job JOB [OPTION]... PART...",
              "Check the parts and write the sealed file.",
              {"job"},
              rows_of({job, count, ends_to_write, receipts}, {"output", "progress", "verbose", "quiet"}),
              any_number},
      Command{Action::list,
              "list",
              "(-k FILE | -p | --job JOB) --ends PREFIX",
              "Print the number, size in bytes and commitment of each part.",
              {"ends"},
              rows_of({job, ends_to_read, label, opening_key},
                      {"passphrase", "passphrase-file", "passphrase-command", "quiet"})},
      Command{Action::open,
              "open",
              "(-k FILE | -p | --job JOB) --ends PREFIX --part I [OPTION]... PART",
              "Decrypt one part.",
              {"ends", "part"},
              rows_of({job, ends_to_read, part_to_open, label, opening_key},
                      {"passphrase", "passphrase-file", "passphrase-command", "output", "force", "lanes",
                       "threads", "kernel", "chunk-size", "progress", "size", "verbose", "quiet", "stats",
                       "trace"}),
              1}};
  return all;
}

struct Main {
  std::optional<Action> action;
  std::string shell;
};

constexpr auto main_rows = std::to_array<OptionRow<Main>>({
    {"completions", "SHELL", "Print completions for SHELL (bash, zsh or fish) and exit.",
     [](Main& main, const std::string& name) {
       main = {Action::completions, name};
     },
     false, shell_names},
    {"version,V", nullptr, "Print the version and exit.",
     [](Main& main, const std::string&) { main.action = Action::version; }},
    {"help,h", nullptr, "Print this help and exit.",
     [](Main& main, const std::string&) { main.action = Action::help; }},
});
constexpr auto main_groups = std::to_array<OptionGroup<Main>>({{"Options", main_rows}});

std::array<Group, 1> groups_of(const Command& command) {
  return {Group{"Options", command.rows}};
}

// Help ------------------------------------------------------------------------------------------------

std::string commands_help() {
  HelpSection section{"Commands", {}};
  std::string usage;
  for (const Command& command : commands()) {
    usage += fmt::format("{} gpuaes-parts {} {}\n", usage.empty() ? "usage:" : "      ", command.name,
                         command.synopsis);
    section.rows.push_back({command.name, command.text});
  }
  return fmt::format(
      "{}       gpuaes-parts COMMAND -h\n\n"
      "Seal one file in parts, with several processes, on one host or on many.\n\n{}\n{}\n"
      "Examples:\n"
      "  Seal a file in two parts at the same time:\n"
      "    gpuaes-parts plan -k key -o job\n"
      "    gpuaes-parts seal --job job --part 0/2 -i disk.img -o part0 &\n"
      "    gpuaes-parts seal --job job --part 1/2 -i disk.img -o part1 & wait\n"
      "    gpuaes-parts join --job job part0 part1 -o disk.sealed\n"
      "    gpuaes-stream --test -k key disk.sealed\n\n"
      "See gpuaes-parts(1) for details.\n",
      usage, format_help({&section, 1}, help_columns()), format_options(main_groups));
}

std::string command_help(const Command& command) {
  return fmt::format("usage: gpuaes-parts {} {}\n\n{}\n\n{}\nSee gpuaes-parts(1) for details.\n",
                     command.name, command.synopsis, command.text, format_options(groups_of(command)));
}

// Rules -----------------------------------------------------------------------------------------------

void check_rules(const Command& command, const CommandLine& line, const Options& options) {
  const po::variables_map& given = line.given;
  check_shared_rules(given);
  for (const char* const name : command.required)
    if (!given.contains(name)) throw UsageError(fmt::format("{} requires --{}", command.name, name));
  if (command.action == Action::join) refuse_together(given, "ends", "output");
  if (options.receipts && options.ends.empty()) throw UsageError("--receipts requires --ends");
  if (command.max_operands > 0 && line.positional.empty())
    throw UsageError(fmt::format("{} requires a file", command.name),
                     fmt::format("gpuaes-parts {} -h describes its arguments", command.name));
  if (options.new_output && !options.output)
    throw UsageError(fmt::format("{} writes a new file, and cannot write to standard output", command.name));
  if (command.action == Action::open && options.part.of != 0)
    throw UsageError("open requires --part I, not I/N", "parts are numbered from 0");
  if (options.decrypt)
    for (const char* const name : {"key", "passphrase", "passphrase-file", "passphrase-command", "label"})
      refuse_together(given, "job", name);
}

PartsOptions parse_command(const Command& command, int argc, const char* const* argv) {
  const auto groups = groups_of(command);
  const CommandLine line = parse_command_line(argc, argv, describe(groups), command.max_operands);
  if (line.given.contains("help")) return {.action = Action::help, .help = command_help(command)};
  Options options = read_options(groups, line.given);
  if (!line.positional.empty()) options.inputs = line.positional;
  if (command.action == Action::plan || command.action == Action::list) options.inputs.clear();
  options.decrypt = command.action == Action::list || command.action == Action::open;
  options.new_output = command.action == Action::plan || command.action == Action::seal;
  options.progress = options.progress && options.level != Messages::Level::quiet;
  check_rules(command, line, options);
  return {.action = command.action, .options = std::move(options)};
}

}  // namespace

PartsOptions parse_parts_options(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto found = std::ranges::find(commands(), name, &Command::name);
  if (found != commands().end()) return parse_command(*found, argc - 1, argv + 1);
  constexpr char hint[] = "gpuaes-parts -h lists the commands";
  if (!name.empty() && !name.starts_with('-'))
    throw UsageError(fmt::format("unknown command '{}'", name), hint);
  const Main main = read_options(main_groups, parse_command_line(argc, argv, describe(main_groups)).given);
  if (!main.action) throw UsageError("no command was given", hint);
  PartsOptions options{.action = *main.action, .help = commands_help()};
  options.options.shell = main.shell;
  return options;
}

std::string parts_completions(std::string_view shell) {
  CompletedProgram program{.name = "gpuaes-parts", .options = option_texts(main_groups)};
  for (const Command& command : commands())
    program.commands.push_back(
        {command.name, command.text, option_texts(groups_of(command)), command.max_operands > 0});
  return completions(program, shell);
}

}  // namespace gpuaes
