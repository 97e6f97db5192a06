// The command line of gpuaes-stream, and what that of gpuaes-parts shares with it. To add an option, see the
// list in stream_options.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cipher/ciphers.hpp"
#include "cli/messages.hpp"
#include "cli/option_values.hpp"
#include "io/fd_source_sink.hpp"
#include "lane/backends.hpp"

namespace gpuaes {

// The keys and passphrases that options name, and those options.
struct SecretOptions {
  const char *key_option, *file_option, *command_option;
  std::vector<std::string> key_files{};
  bool ask_passphrase = false;
  std::optional<std::string> passphrase_file{}, passphrase_command{};
};

struct Options {
  enum class Action { filter, info, rekey, completions, help, version, list_lanes };

  Action action = Action::filter;
  bool decrypt_explicitly = false;     // with -d
  bool decrypt = false;                // the secrets open the input; also set by modes that imply it
  bool encrypt_explicitly = false;     // -e is given
  bool test = false;                   // write nothing
  bool salvage = false;                // continue past damage
  std::optional<Selection> selection;  // of the plaintext
  bool json = false;                   // --info prints JSON
  SecretOptions secrets{"--key", "--passphrase-file", "--passphrase-command"};
  SecretOptions new_secrets{"--new-key", "--new-passphrase-file", "--new-passphrase-command"};  // of --rekey
  std::vector<std::string> recipients;  // in the form that -r takes; -R FILE is @FILE
  std::vector<std::string> plugins;     // names of age plugins without data
  std::optional<std::string> format;    // if not set: chosen by the keys, or detected when decrypting
  std::optional<Cipher> cipher;
  bool armor = false;  // write text
  std::optional<std::string> iv;
  std::optional<std::string> context;
  std::optional<std::string> label;
  std::optional<std::uint32_t> iterations;
  std::vector<std::string> inputs{std::string(standard_name)};  // several for some actions
  const char* input_option = "";                                // that names the input, if any
  std::vector<std::string> command;                             // whose output is the input, unless empty
  std::optional<std::string> output;                            // standard output if not set
  std::optional<std::string> into;  // a file that several processes write, instead of the output
  bool in_place = false;            // --rekey replaces the input
  bool sparse = false;              // zeros in the output become holes
  LaneChoice lanes;
  std::optional<std::size_t> chunk_bytes;
  std::optional<std::string> stats;
  std::optional<std::string> trace;
  bool progress = false;              // the line of -P; never with -q
  std::optional<std::uint64_t> size;  // of the input, from the user
  bool force = false;                 // write to a terminal anyway
  Messages::Level level = Messages::Level::normal;
  std::string shell;  // of --completions

  // For gpuaes-parts:
  std::string directory;               // DIR
  std::uint32_t part = 0;              // its number
  std::optional<std::uint32_t> count;  // of parts
  std::optional<std::string> receipt;  // a file to write
  std::vector<std::string> receipts;   // files to read
  bool reads_receipts = false;         // whether there are any
  bool verify = false;                 // read all of a complete part
  bool missing = false;                // print only the numbers of missing parts
  bool single_file = false;            // join to the output, too

  const std::string& input() const { return inputs.front(); }
  bool several() const { return inputs.size() > 1; }
  bool names_input() const { return !inputs.empty() && input() != standard_name; }
};

// UsageError for unknown options, conflicting options and malformed values. Whether a file, format or device
// exists is checked where it is used.
Options parse_options(int argc, const char* const* argv);

// The text that -h prints.
std::string help_text();

// The script that --completions prints. UsageError if the shell is unknown.
std::string completions(std::string_view shell);

}  // namespace gpuaes
