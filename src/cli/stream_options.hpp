// The list of gpuaes-stream's options.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "cli/command_line.hpp"
#include "cli/completions.hpp"
#include "cli/option_values.hpp"
#include "cli/options.hpp"
#include "format/format.hpp"

namespace gpuaes {
namespace stream_rows {

using Action = Options::Action;
using Level = Messages::Level;

// If several actions are given, the last one in the list wins.
template <Action action>
void act(Options& options, const std::string&, const std::string&) {
  options.action = action;
}

// Turns on a mode that implies --decrypt.
template <bool Options::*mode>
void turn_on_to_decrypt(Options& options, const std::string&, const std::string&) {
  options.*mode = options.decrypt = true;
}

inline constexpr bool once = false, repeats = true;

using Row = OptionRow<Options>;

// To add an option:
//  1. add its field to a part of a request (requests.hpp), or to Options,
//  2. add its row to one of these groups, which -h prints in this order,
//  3. add its name to the lists in option_rules.cpp of options that exclude or require each other,
//  4. if its argument is one of a few words, name the function that lists them, for completions,
//  5. document it in man/gpuaes-stream.1, where a test expects the same groups and the same order.
inline constexpr auto operations = std::to_array<Row>({
    {"encrypt,e", nullptr, "Encrypt (the default).", turn_on<&Options::encrypt_explicitly>},
    {"decrypt,d", nullptr, "Decrypt. For formats other than sealed and age, -f is required.",
     turn_on_to_decrypt<&Options::decrypt_explicitly>},
    {"test,t", nullptr, "Verify that each FILE is complete and unmodified. Of several, list those that pass.",
     turn_on_to_decrypt<&Options::test>},
    {"range", "OFFSET:[LENGTH]",
     "Decrypt only LENGTH bytes of plaintext at OFFSET, or everything from there to the end. The input must "
     "be a file.",
     [](Options& options, const std::string& text, const std::string&) {
       options.selection = parse_range(text);
       options.decrypt = true;
     }},
    {"part", "I", "Decrypt only part I, counted from 0, of a file that gpuaes-parts made.",
     [](Options& options, const std::string& text, const std::string&) {
       options.old_share = text.find('/') != text.npos;
       options.selection =
           options.old_share ? Selection(parse_share(text)) : PartNumber{parse_part_number(text)};
       options.decrypt = true;
     }},
    {"share", "I/N", "Decrypt only share I of N, counted from 0. The input must not be a pipe.",
     [](Options& options, const std::string& text, const std::string&) {
       options.selection = parse_share(text);
       options.decrypt = true;
     }},
    {"salvage", nullptr, "Decrypt a damaged file: replace damaged segments with zeros and list them.",
     turn_on_to_decrypt<&Options::salvage>},
    {"info", nullptr, "Show format, cipher, key slots and sizes. No key is needed.", act<Action::info>},
    {"json", nullptr, "With --info: print JSON.", turn_on<&Options::json>},
    {"export-header", nullptr,
     "Write the header of a sealed or age file, which --rekey accepts in place of the file. No key is "
     "needed.",
     act<Action::export_header>},
    {"rekey", nullptr,
     "Replace the keys that open a sealed or age file without encrypting it again. Keys not named again are "
     "removed, but anyone who could open the file may have kept a copy.",
     [](Options& options, const std::string&, const std::string&) {
       options.action = Action::rekey;
       options.decrypt = true;
     }},
});

inline constexpr auto keys = std::to_array<Row>({
    {"key,k", "FILE", "Read a key, identities or an SSH private key from FILE. Can be repeated.",
     add_secret_file<&Options::secrets, &SecretRequest::named, &SecretOptions::key_files>, repeats},
    {"passphrase,p", nullptr, "Ask for a passphrase on the terminal.",
     turn_on<&Options::secrets, &SecretRequest::named, &SecretOptions::ask_passphrase>},
    {"passphrase-file", "FILE", "Read the passphrase from the first line of FILE.",
     set_secret_file<&Options::secrets, &SecretRequest::named, &SecretOptions::passphrase_file>},
    {"passphrase-command", "COMMAND", "Read the passphrase from the first line that COMMAND prints.",
     set_named<&Options::secrets, &SecretRequest::named, &SecretOptions::passphrase_command>},
    {"recipient,r", "RECIPIENT",
     "Encrypt for RECIPIENT, an age recipient or an SSH public key; with @FILE, for each one in FILE. Can be "
     "repeated.",
     [](Options& options, const std::string& text, const std::string& option) {
       if (text.starts_with('@'))
         options.secrets.recipients.emplace_back(NamedFile{text.substr(1), option});
       else
         options.secrets.recipients.emplace_back(text);
     },
     repeats},
    {"recipients-file,R", "FILE", "Encrypt for each recipient in FILE, as with -r @FILE. Can be repeated.",
     [](Options& options, const std::string& name, const std::string& option) {
       options.secrets.recipients.emplace_back(NamedFile{name, option});
     },
     repeats},
    {"plugin,j", "NAME", "Use the age plugin NAME without an identity or a recipient. Can be repeated.",
     [](Options& options, const std::string& name, const std::string& option) {
       options.secrets.plugins.push_back({parse_plugin(name), option});
     },
     repeats},
    {"new-key", "FILE", "With --rekey: add a slot for the key in FILE. Can be repeated.",
     add_secret_file<&Options::new_secrets, &SecretRequest::named, &SecretOptions::key_files>, repeats},
    {"new-passphrase", nullptr, "With --rekey: ask for a new passphrase.",
     turn_on<&Options::new_secrets, &SecretRequest::named, &SecretOptions::ask_passphrase>},
    {"new-passphrase-file", "FILE", "With --rekey: read the new passphrase from the first line of FILE.",
     set_secret_file<&Options::new_secrets, &SecretRequest::named, &SecretOptions::passphrase_file>},
    {"new-passphrase-command", "COMMAND",
     "With --rekey: read the new passphrase from the first line that COMMAND prints.",
     set_named<&Options::new_secrets, &SecretRequest::named, &SecretOptions::passphrase_command>},
});

inline constexpr auto files = std::to_array<Row>({
    {"input,i", "FILE",
     "Read from FILE instead of standard input (-). FILE can also be given as an argument.",
     [](Options& options, const std::string& name, const std::string& option) {
       options.inputs.named = {input_from(name, option)};
     }},
    {"header", "FILE",
     "To decrypt or verify: use the header in FILE, from --export-header and then --rekey, instead of the "
     "input's own.",
     set_named<&Options::header>},
    {"files-from", "LIST",
     "With --output-dir, --test, --info or --rekey: read the names of input files, one per line, from LIST "
     "(- is standard input).",
     set_named<&Options::inputs, &InputsRequest::list>},
    {"null", nullptr, "With --files-from: names end with null bytes, as from find -print0.",
     [](Options& options, const std::string&, const std::string&) { options.inputs.separator = '\0'; }},
    {"output,o", "FILE",
     "Write to FILE instead of standard output (-). FILE is created or replaced only if the run succeeds.",
     set_output<&Options::output, &OutputRequest::file>},
    {"output-dir", "DIR",
     "For each FILE, write DIR/FILE.age or DIR/FILE.sealed or, with -d, a file without that ending.",
     set_named<&Options::output, &OutputRequest::directory>},
    {"skip-existing", nullptr,
     "With --output-dir: skip a FILE that has not changed since its output was written.",
     turn_on<&Options::output, &OutputRequest::skip_existing>},
    {"into", "FILE",
     "With --share: write the share at its place in FILE, which appears when all N are complete.",
     set_named<&Options::into>},
    {"sparse", nullptr, "With -d and -o: leave holes in FILE for blocks of zeros.",
     turn_on<&Options::output, &OutputRequest::sparse>},
    {"force", nullptr, "Write ciphertext or binary data even to a terminal.",
     turn_on<&Options::output, &OutputRequest::force>},
});

inline constexpr auto formats = std::to_array<Row>({
    {"format,f", "FORMAT",
     "sealed, age, cobblestone, openssl or raw. The default is age for recipients alone, otherwise sealed.",
     [](Options& options, const std::string& name, const std::string&) {
       options.format.named = &find_format(name);
     },
     once, format_names},
    {"cipher,c", "CIPHER",
     "Sealed format: aes-256 (the default) or kuznyechik. gpuaes-formats(7) lists those of other formats.",
     set_parsed<parse_cipher, &Options::format, &FormatRequest::cipher>, once, cipher_names},
    {"armor,a", nullptr,
     "Sealed and age formats: write text, for example for mail. Armored input is detected.",
     turn_on<&Options::format, &FormatRequest::armor>},
    {"label", "TEXT", "Sealed format: bind the file to TEXT, which is then required to decrypt it.",
     set_parsed<parse_label, &Options::format, &FormatRequest::label>},
    {"context", "HEX",
     "Cobblestone format: bind the message to these bytes, which are then required to decrypt it.",
     set_text<&Options::format, &FormatRequest::context>},
    {"iv", "HEX", "Raw format: the first counter block, 32 hexadecimal digits (kuznyechik: 16). Required.",
     set_text<&Options::format, &FormatRequest::iv>},
    {"iter", "N", "OpenSSL format: the number of PBKDF2 iterations (default 10000).",
     set_parsed<parse_iterations, &Options::format, &FormatRequest::iterations>},
});

inline constexpr auto lanes = std::to_array<Row>({
    {"lanes,l", "SPEC",
     "Where to compute: auto (the default), auto:low-cpu, or cpu[:THREADS] and cuda[:DEVICE[:STREAMS]], "
     "alone or joined by +.",
     set_parsed<parse_lanes, &Options::lanes, &LaneRequest::choice>, once, lane_names},
    {"chunk-size,b", "SIZE",
     "Process SIZE bytes of plaintext at a time. SIZE may end in K, M or G, or in KiB, MiB or GiB.",
     set_parsed<parse_size, &Options::lanes, &LaneRequest::chunk_bytes>},
    {"list-lanes", nullptr, "List the CPUs and GPUs of this machine and exit.", act<Action::list_lanes>},
});

inline constexpr auto messages = std::to_array<Row>({
    {"progress,P", nullptr, "Show progress: bytes, time, rate, CPU threads and GPUs.",
     turn_on<&Options::progress>},
    {"verbose,v", nullptr,
     "Print which CPU threads and GPUs are used, and a summary. Given twice, also print what each of them "
     "did.",
     [](Options& options, const std::string&, const std::string&) {
       options.level = options.level == Level::normal ? Level::verbose : Level::very_verbose;
     }},
    {"quiet,q", nullptr, "Print errors only.",
     [](Options& options, const std::string&, const std::string&) { options.level = Level::quiet; }},
    {"stats", "FILE", "Write statistics to FILE as JSON.",
     set_named<&Options::reports, &ReportRequest::stats>},
    {"trace", "FILE", "Write a timeline to FILE, for Perfetto.",
     set_named<&Options::reports, &ReportRequest::trace>},
});

inline constexpr auto about = std::to_array<Row>({
    {"completions", "SHELL", "Print completions for SHELL (bash, zsh or fish) and exit.",
     [](Options& options, const std::string& name, const std::string&) {
       options.action = Action::completions;
       options.shell = name;
     },
     once, shell_names},
    {"version,V", nullptr, "Print the version and exit.", act<Action::version>},
    {"help,h", nullptr, "Print this help and exit.", act<Action::help>},
});

}  // namespace stream_rows

inline constexpr auto stream_options = std::to_array<OptionGroup<Options>>({
    {"Mode", stream_rows::operations},
    {"Keys and recipients", stream_rows::keys},
    {"Input and output", stream_rows::files},
    {"Format and cipher", stream_rows::formats},
    {"CPUs and GPUs", stream_rows::lanes},
    {"Progress and diagnostics", stream_rows::messages},
    {"Help and version", stream_rows::about},
});

// The option of gpuaes-stream with that long name. std::logic_error for other names.
constexpr const OptionRow<Options>& stream_option(std::string_view name) {
  for (const OptionGroup<Options>& group : stream_options)
    for (const OptionRow<Options>& row : group.rows)
      if (long_name(row.names) == name) return row;
  throw std::logic_error("unknown option");
}

// Long names of options, separated by spaces. An unknown name does not compile.
class OptionNames {
 public:
  consteval OptionNames(const char* names) : names_(names) {
    for (std::string_view rest = names_; !rest.empty();) {
      const std::size_t size = rest.find(' ') == rest.npos ? rest.size() : rest.find(' ');
      stream_option(rest.substr(0, size));
      rest.remove_prefix(size < rest.size() ? size + 1 : size);
    }
  }
  std::vector<std::string_view> list() const { return split(names_, ' '); }

 private:
  std::string_view names_;
};

}  // namespace gpuaes
