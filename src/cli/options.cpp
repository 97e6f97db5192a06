#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "cli/command_line.hpp"

namespace gpuaes {
namespace {

namespace po = boost::program_options;

using Action = Options::Action;
using Level = Messages::Level;

// If several actions are given, the last one in the list wins.
template <Action action>
void act(Options& options, const std::string&) {
  options.action = action;
}

template <Level level>
void set_level(Options& options, const std::string&) {
  options.level = level;
}

// Turns on a mode that implies --decrypt.
template <bool Options::*mode>
void turn_on_to_decrypt(Options& options, const std::string&) {
  options.*mode = options.decrypt = true;
}

constexpr bool repeats = true;

// To add an option:
//  1. add its field to Options,
//  2. add its row here; -h prints the rows in this order,
//  3. add its name to the lists below of options that exclude or require each other,
//  4. document it in man/gpuaes-stream.1 and in the table in README.md.
constexpr auto rows = std::to_array<OptionRow<Options>>({
    {"encrypt,e", nullptr, "encrypt (the default)", [](Options&, const std::string&) {}},
    {"decrypt,d", nullptr, "decrypt; detects the sealed format", turn_on<&Options::decrypt>},
    {"info", nullptr, "tell what can be known of the input without a key", act<Action::info>},
    {"json", nullptr, "--info: as JSON", turn_on<&Options::json>},
    {"range", "OFFSET:LENGTH", "decrypt this part of the plaintext alone, of a file; OFFSET: up to the end",
     [](Options& options, const std::string& text) {
       options.range = parse_range(text);
       options.decrypt = true;
     }},
    {"salvage", nullptr, "decrypt, with zeros in the place of what is damaged, and say where",
     turn_on_to_decrypt<&Options::salvage>},
    {"test", nullptr, "decrypt, and write nothing: is the input whole?", turn_on_to_decrypt<&Options::test>},
    {"key,k", "FILE", "key file, as gpuaes-keygen makes it, or identity; may be given several times",
     add_text<&Options::key_files>, repeats},
    {"passphrase,p", nullptr, "ask for a passphrase on the terminal", turn_on<&Options::ask_passphrase>},
    {"passphrase-file", "FILE", "the passphrase is the first line of FILE",
     set_text<&Options::passphrase_file>},
    {"recipient,r", "RECIPIENT",
     "seal for a recipient, or for those in a file: -r @FILE; may be given several times",
     add_text<&Options::recipients>, repeats},
    {"rekey", nullptr, "give a sealed file new slots: for --new-key, -r, --new-passphrase",
     [](Options& options, const std::string&) {
       options.action = Action::rekey;
       options.decrypt = true;
     }},
    {"new-key", "FILE", "rekey: a key file; may be given several times", add_text<&Options::new_key_files>,
     repeats},
    {"new-passphrase", nullptr, "rekey: ask for the new passphrase", turn_on<&Options::ask_new_passphrase>},
    {"new-passphrase-file", "FILE", "rekey: the new passphrase is the first line of FILE",
     set_text<&Options::new_passphrase_file>},
    {"format,f", "FORMAT", "sealed (the default), cobblestone, openssl or raw", set_text<&Options::format>},
    {"cipher,c", "CIPHER", "aes-128, aes-192, aes-256, kuznyechik; otherwise AES by the key's length",
     set_parsed<&Options::cipher, parse_cipher>},
    {"iv", "HEX", "raw: the first counter block, 32 hexadecimal digits; kuznyechik: 16",
     set_text<&Options::iv>},
    {"context", "HEX", "cobblestone: data the message is bound to, in addition to its key",
     set_text<&Options::context>},
    {"label", "TEXT", "sealed: bind the file to TEXT; decryption needs the same TEXT",
     set_parsed<&Options::label, parse_label>},
    {"iter", "N", "openssl: iterations of PBKDF2 (10000)",
     set_parsed<&Options::iterations, parse_iterations>},
    {"input,i", "FILE", "read FILE instead of standard input; - is standard input",
     set_text<&Options::input>},
    {"output,o", "FILE", "write FILE, which appears only when complete; - is standard output",
     set_parsed<&Options::output, parse_output>},
    {"lanes,l", "SPEC", "auto, or cpu[:THREADS] and cuda[:DEVICE[:STREAMS]], joined by +",
     set_parsed<&Options::lanes, parse_lanes>},
    {"kernel", "NAME", "of CUDA lanes: bitslice (the default) or ttable, see the manual",
     set_parsed<&Options::kernel, parse_cuda_kernel>},
    {"chunk-size,b", "SIZE", "bytes of text a lane works on at a time; K, M and G are of 1024",
     set_parsed<&Options::chunk_bytes, parse_size>},
    {"progress,P", nullptr, "show how far it is: bytes, time, rates, and which lanes work",
     turn_on<&Options::progress>},
    {"size", "SIZE", "how long the input will be, where it is no file: for -P",
     set_parsed<&Options::size, parse_expected_size>},
    {"force", nullptr, "write to a terminal what else is refused: ciphertext, binary plaintext",
     turn_on<&Options::force>},
    {"verbose,v", nullptr, "say what is being done", set_level<Level::verbose>},
    {"quiet,q", nullptr, "say nothing but errors", set_level<Level::quiet>},
    {"stats", "FILE", "write figures of the run to FILE as JSON", set_text<&Options::stats>},
    {"trace", "FILE", "write the run's timeline to FILE, for Perfetto to show", set_text<&Options::trace>},
    {"list-lanes", nullptr, "list the lanes of this machine", act<Action::list_lanes>},
    {"version,V", nullptr, "print the version", act<Action::version>},
    {"help,h", nullptr, "print this", act<Action::help>},
});

using Pair = std::pair<const char*, const char*>;

constexpr auto exclusive = std::to_array<Pair>({
    {"encrypt", "decrypt"},
    {"verbose", "quiet"},
    {"passphrase", "passphrase-file"},
    {"new-passphrase", "new-passphrase-file"},
    {"test", "output"},
    {"test", "range"},
    {"salvage", "range"},
    {"test", "encrypt"},
    {"range", "encrypt"},
    {"salvage", "encrypt"},
});

// The first of each pair requires the second.
constexpr auto dependent = std::to_array<Pair>({
    {"json", "info"},
    {"new-key", "rekey"},
    {"new-passphrase", "rekey"},
    {"new-passphrase-file", "rekey"},
});

// Options for encryption or decryption, which --rekey does not do.
constexpr auto refused_by_rekey =
    std::to_array<const char*>({"encrypt", "decrypt", "cipher", "iv", "context", "iter", "lanes", "kernel",
                                "chunk-size", "stats", "trace", "test", "range", "salvage", "info"});

constexpr auto taken_by_info =
    std::to_array<std::string_view>({"info", "json", "input", "format", "decrypt", "verbose", "quiet"});

// No option is silently ignored.
void check_conflicts(const po::variables_map& given, const Options& options) {
  if (options.action == Action::info)
    for (const auto& [name, value] : given)
      if (std::ranges::find(taken_by_info, name) == taken_by_info.end())
        throw UsageError(fmt::format("--info cannot be used with --{}", name),
                         "--info accepts only --input, --format, --json, --verbose and --quiet");
  for (const auto& [name, needed] : dependent)
    if (given.contains(name) && !given.contains(needed))
      throw UsageError(fmt::format("--{} requires --{}", name, needed));
  for (const auto& [a, b] : exclusive) refuse_together(given, a, b);
  for (const char* name : refused_by_rekey) refuse_together(given, "rekey", name);
  if (given.contains("rekey") && options.format.value_or("sealed") != "sealed")
    throw UsageError("--rekey works only with the sealed format");
  if (options.decrypt && !given.contains("rekey") && !options.recipients.empty())
    throw UsageError("--recipient cannot be used with --decrypt", "name the identity file with -k");
  for (const char* name : {"stats", "trace"})
    if (given.contains(name) && given[name].as<std::string>() == standard_name)
      throw UsageError(fmt::format("--{} requires a file name, not -", name),
                       "use /dev/stdout or /dev/stderr for standard output or standard error");
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(argc, argv, describe(rows)).given;
  Options options = read_options(rows, given);
  check_conflicts(given, options);
  options.in_place = options.action == Action::rekey && options.names_input() && !given.contains("output");
  options.progress = options.progress && options.level != Level::quiet;
  return options;
}

std::string help_text() {
  std::ostringstream text;
  text << "usage: gpuaes-stream [-d] -k FILE [options] < input > output\n\n"
       << describe(rows) << "\ngpuaes-stream(1) tells more.\n";
  return text.str();
}

}  // namespace gpuaes
