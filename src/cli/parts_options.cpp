#include "cli/parts_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cli/command_line.hpp"
#include "cli/completions.hpp"
#include "cli/option_rules.hpp"
#include "cli/option_values.hpp"
#include "terminal/version.hpp"

namespace gpuaes {
namespace {

enum class Action { plan, seal, status, join };

// The options as given.
struct PartsOptions {
  Options shared;                      // with gpuaes-stream
  NamedFile directory;                 // except of plan, whose output it is
  std::optional<std::uint32_t> part;   // its number
  std::optional<std::uint32_t> count;  // of parts
  std::optional<NamedFile> receipt;    // a file to write
  std::vector<NamedFile> receipts;     // files to read
  bool reads_receipts = false;         // whether there are any
  bool verify = false;                 // read all of a complete part
  bool json = false;                   // print JSON
  bool missing = false;                // print only the numbers of missing parts
  bool single_file = false;            // join to the output, too
};
using Row = OptionRow<PartsOptions>;

void set_shared_input(PartsOptions& options, const std::string& name, const std::string& option) {
  options.shared.inputs.named = {input_from(name, option)};
}

constexpr decltype(Row::set) set_shared_output =
    set_output<&PartsOptions::shared, &Options::output, &OutputRequest::file>;

// To add an option: add its row to each command that accepts it, and document it in man/gpuaes-parts.1, where
// a test expects the same order.
constexpr auto plan_rows = std::to_array<Row>({
    {"input,i", "FILE",
     "The file or block device to encrypt. It can also be given as an argument. Without it, each seal reads "
     "an input of its own.",
     set_shared_input},
    {"parts,n", "N", "The number of parts. The default is one per GiB of FILE, at most 1000.",
     set_parsed<parse_part_count, &PartsOptions::count>},
    {"output,o", "DIR", "Make the directory DIR, which must not exist.", set_shared_output},
    {"cipher,c", "CIPHER", "aes-256 (the default) or kuznyechik.",
     set_parsed<parse_cipher, &PartsOptions::shared, &Options::format, &FormatRequest::cipher>, false,
     cipher_names},
    {"label", "TEXT", "Bind the file to TEXT, which is then required to decrypt it.",
     set_parsed<parse_label, &PartsOptions::shared, &Options::format, &FormatRequest::label>},
    {"key,k", "FILE", "Encrypt for the key in FILE. Can be repeated.",
     add_secret_file<&PartsOptions::shared, &Options::secrets, &SecretRequest::named,
                     &SecretOptions::key_files>,
     true},
    {"recipient,r", "RECIPIENT",
     "Encrypt for RECIPIENT, an age recipient; with @FILE, for each one in FILE. Can be repeated.",
     [](PartsOptions& options, const std::string& text, const std::string& option) {
       stream_option("recipient").set(options.shared, text, option);
     },
     true},
});

constexpr auto seal_rows = std::to_array<Row>({
    {"part", "I", "The number of the part, from 0. Without it, encrypt all that are missing.",
     set_parsed<parse_part_number, &PartsOptions::part>},
    {"input,i", "FILE",
     "The input of the plan, under its name on this host, or if the plan has none, the input of this part.",
     set_shared_input},
    {"verify", nullptr, "Read and verify all of the part once it is complete.",
     turn_on<&PartsOptions::verify>},
    {"output,o", "FILE", "Write the part to FILE or standard output (-) instead. Requires --receipt.",
     set_shared_output},
    {"receipt", "FILE", "Write a receipt of the part to FILE, for join --receipts.",
     set_named<&PartsOptions::receipt>},
});

constexpr auto status_rows = std::to_array<Row>({
    {"json", nullptr, "Print JSON.", turn_on<&PartsOptions::json>},
    {"missing", nullptr,
     "Print only the numbers of the missing parts, such as 3,7-9. Exit status 1 if there are any.",
     turn_on<&PartsOptions::missing>},
});

constexpr auto join_rows = std::to_array<Row>({
    {"count", "N", "The number of parts, if the plan does not record it.",
     set_parsed<parse_part_count, &PartsOptions::count>},
    {"receipts", nullptr, "Use the receipts listed after DIR for parts stored elsewhere.",
     turn_on<&PartsOptions::reads_receipts>},
    {"output,o", "FILE", "Also write the sealed file as a single file to FILE or standard output (-).",
     [](PartsOptions& options, const std::string& name, const std::string& option) {
       set_shared_output(options, name, option);
       options.single_file = true;
     }},
});

constexpr Row help{"help,h", nullptr, "Print this help and exit.",
                   [](PartsOptions&, const std::string&, const std::string&) {}};

struct Command {
  Action action;
  const char* name;
  const char* synopsis;  // in the help, after the name
  const char* text;      // in the help
  Operands operands;     // the first is the input of plan, and the directory of others
  std::span<const Row> rows;
  OptionNames shared;  // with gpuaes-stream
};

constexpr auto commands = std::to_array<Command>({
    {Action::plan,
     "plan",
     "(-k FILE | -p | -r RECIPIENT | -R FILE)...\n"
     "                         [OPTION]... -o DIR [FILE]",
     "Make the directory of a new sealed file, and print the number of its parts.",
     {.max = 1},
     plan_rows,
     "passphrase passphrase-file passphrase-command recipients-file quiet"},
    {Action::seal,
     "seal",
     "DIR [--part I] [OPTION]... [-- COMMAND...]",
     "Encrypt one part, which may be the output of COMMAND, or all that are missing.",
     {.max = 1, .with_command = true},
     seal_rows,
     "lanes chunk-size progress verbose quiet stats trace"},
    {Action::status,
     "status",
     "DIR [--json | --missing]",
     "Print which parts are complete, missing or being made.",
     {.max = 1},
     status_rows,
     "quiet"},
    {Action::join,
     "join",
     "DIR [OPTION]... [--receipts RECEIPT...]",
     "Check all parts and write the index, which completes the file.",
     {.max = Operands::any_number},
     join_rows,
     "progress verbose quiet"},
});

// Without a command. If several options are given, the last one in the list wins.
struct Main {
  std::string (*text)(const Main& main) = nullptr;  // what to print
  std::string shell;
};

std::string commands_help(const Main&);
std::string completions_for(const Main& main);

constexpr auto main_rows = std::to_array<OptionRow<Main>>({
    {"completions", "SHELL", "Print completions for SHELL (bash, zsh or fish) and exit.",
     [](Main& main, const std::string& name, const std::string&) {
       main = {completions_for, name};
     },
     false, shell_names},
    {"version,V", nullptr, "Print the version and exit.",
     [](Main& main, const std::string&, const std::string&) {
       main.text = [](const Main&) { return version_text("gpuaes-parts"); };
     }},
    {"help,h", nullptr, "Print this help and exit.",
     [](Main& main, const std::string&, const std::string&) { main.text = commands_help; }},
});
constexpr auto main_groups = std::to_array<OptionGroup<Main>>({{"Options", main_rows}});

std::vector<OptionText> texts_of(const Command& command) {
  std::vector<OptionText> texts;
  for (const Row& row : command.rows) texts.push_back(text_of(row));
  for (const std::string_view name : command.shared.list()) texts.push_back(text_of(stream_option(name)));
  texts.push_back(text_of(help));
  return texts;
}

// Help ------------------------------------------------------------------------------------------------

std::string commands_help(const Main&) {
  HelpSection section{"Commands", {}};
  std::string usage;
  for (const Command& command : commands) {
    usage += fmt::format("{} gpuaes-parts {} {}\n", usage.empty() ? "usage:" : "      ", command.name,
                         command.synopsis);
    section.rows.push_back({command.name, command.text});
  }
  return fmt::format(
      "{}       gpuaes-parts COMMAND -h\n"
      "       gpuaes-parts --completions SHELL | -V | -h\n\n"
      "Encrypt one file in parts, with several processes, on one host or many.\n\n{}\n{}\n"
      "Examples:\n"
      "  Encrypt a file in two parts at the same time:\n"
      "    gpuaes-parts plan -k key -n 2 -o disk.sealed disk.img\n"
      "    gpuaes-parts seal disk.sealed --part 0 &\n"
      "    gpuaes-parts seal disk.sealed --part 1 & wait\n"
      "    gpuaes-parts join disk.sealed\n"
      "    gpuaes-stream --test -k key disk.sealed\n\n"
      "See gpuaes-parts(1) for details.\n",
      usage, format_help({&section, 1}, help_columns()), format_options(main_groups));
}

std::string command_help(const Command& command) {
  HelpSection options{"Options", {}};
  for (const OptionText& text : texts_of(command)) options.rows.push_back(help_row(text));
  return fmt::format("usage: gpuaes-parts {} {}\n\n{}\n\n{}\nSee gpuaes-parts(1) for details.\n",
                     command.name, command.synopsis, command.text,
                     format_help({&options, 1}, help_columns()));
}

// Rules -----------------------------------------------------------------------------------------------

constexpr OptionNames refused_by_seal = "input";

void check_plan(const CommandLine& line, const Options& options) {
  if (!line.given.contains("output")) throw UsageError("plan requires --output");
  refuse_second_input(line);
  if (!options.inputs.named.empty() && !options.inputs.is_named())
    throw UsageError("plan cannot use standard input, because each seal opens the input by its name",
                     "omit the input; each seal then reads its own");
  if (!options.output.file) throw UsageError("plan makes a directory, and cannot write to standard output");
}

// Of each part, there would be one.
void check_all_parts(const CommandLine& line) {
  if (line.command) throw UsageError("a command requires --part, because it prints one part");
  for (const char* const name : {"output", "receipt", "stats", "trace"})
    if (line.given.contains(name)) throw UsageError(fmt::format("--{} requires --part", name));
}

void check_receipts(const Command& command, const GivenOptions& given, const PartsOptions& options) {
  if (command.action == Action::seal && given.contains("output") != given.contains("receipt"))
    throw UsageError("--output and --receipt require each other",
                     "without them, the part is written to the directory");
  refuse_together(given, "receipt", "verify");
  if (options.reads_receipts) refuse_together(given, "receipts", "output");
  if (options.reads_receipts != !options.receipts.empty())
    throw UsageError(
        options.reads_receipts ? "--receipts requires a receipt" : "join accepts only one directory",
        "receipts follow the directory and --receipts");
}

void check_rules(const Command& command, const CommandLine& line, const PartsOptions& options) {
  check_shared_rules(line.given);
  check_command(line, refused_by_seal);
  if (command.action == Action::plan) return check_plan(line, options.shared);
  if (line.positional.empty())
    throw UsageError(fmt::format("{} requires a directory", command.name),
                     fmt::format("gpuaes-parts {} -h describes its arguments", command.name));
  refuse_together(line.given, "json", "missing");
  if (command.action == Action::seal && !options.part) check_all_parts(line);
  check_receipts(command, line.given, options);
}

PartsRequest request_of(Action action, const PartsOptions& options) {
  const Options& shared = options.shared;
  switch (action) {
    case Action::plan:
      return PlanRequest{.secrets = secret_request(shared),
                         .input = shared.inputs.first(),
                         .directory = *shared.output.file,
                         .cipher = shared.format.cipher.value_or(Cipher::aes_256),
                         .label = shared.format.label,
                         .count = options.count};
    case Action::seal:
      return SealRequest{.directory = options.directory,
                         .part = options.part,
                         .input = shared.inputs.first(),
                         .output = shared.output,
                         .receipt = options.receipt,
                         .verify = options.verify,
                         .lanes = shared.lanes,
                         .reports = shared.reports,
                         .progress = shows_progress(shared)};
    case Action::status:
      return StatusRequest{options.directory, options.json, options.missing};
    case Action::join:
      return JoinRequest{.directory = options.directory,
                         .count = options.count,
                         .receipts = options.receipts,
                         .single_file = options.single_file ? std::optional(shared.output) : std::nullopt,
                         .progress = shows_progress(shared)};
  }
  throw std::logic_error("unknown command");
}

PartsOptions read_options(const Command& command, const CommandLine& line) {
  PartsOptions options;
  read_rows<PartsOptions>(command.rows, line.given, options);
  for (const std::string_view name : command.shared.list())
    read_rows<Options>({&stream_option(name), 1}, line.given, options.shared);
  InputsRequest& inputs = options.shared.inputs;
  if (command.action == Action::plan) {
    if (!line.given.contains("input")) inputs.named.clear();
    for (const std::string& name : line.positional) inputs.named.push_back(input_from(name));
  } else if (!line.positional.empty()) {
    options.directory.name = line.positional.front();
    for (const std::string& name : std::span(line.positional).subspan(1))
      options.receipts.push_back({name, "--receipts"});
  }
  if (line.command) inputs.named.front().command = *line.command;
  return options;
}

Parsed<PartsRequest> parse_command(const Command& command, int argc, const char* const* argv) {
  const CommandLine line = parse_command_line(argc, argv, texts_of(command), command.operands);
  if (line.given.contains("help")) return {.request = PrintRequest{command_help(command)}};
  const PartsOptions options = read_options(command, line);
  check_rules(command, line, options);
  return {options.shared.level, request_of(command.action, options)};
}

std::string completions_for(const Main& main) {
  CompletedProgram program{
      .name = "gpuaes-parts", .options = option_texts(main_groups), .runs_command = true};
  for (const Command& command : commands)
    program.commands.push_back({command.name, command.text, texts_of(command), true});
  return completions(program, main.shell);
}

}  // namespace

Parsed<PartsRequest> parse_parts_options(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto found = std::ranges::find(commands, name, &Command::name);
  if (found != commands.end()) return parse_command(*found, argc - 1, argv + 1);
  constexpr char hint[] = "gpuaes-parts -h lists the commands";
  if (!name.empty() && !name.starts_with('-'))
    throw UsageError(fmt::format("unknown command '{}'", name), hint);
  const Main main =
      read_options(main_groups, parse_command_line(argc, argv, option_texts(main_groups)).given);
  if (!main.text) throw UsageError("no command was given", hint);
  return {.request = PrintRequest{main.text(main)}};
}

}  // namespace gpuaes
