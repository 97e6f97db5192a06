// The command lines of the filter and of gpuaes-keygen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cipher/ciphers.hpp"
#include "cli/messages.hpp"

namespace gpuaes {

// A part of a plaintext, in bytes.
struct ByteRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // without it: up to the end
};

struct Options {
  enum class Action { filter, info, rekey, help, version, list_lanes };

  Action action = Action::filter;
  bool decrypt = false;
  bool json = false;               // what info prints
  bool test = false;               // the output is not wanted; decrypt is set
  bool salvage = false;            // damage is no end; decrypt is set
  std::optional<ByteRange> range;  // decrypt is set
  std::vector<std::string> key_files;
  bool ask_passphrase = false;
  std::optional<std::string> passphrase_file;
  std::vector<std::string> recipients;     // as -r takes them
  std::vector<std::string> new_key_files;  // this and the next two: to rekey for
  bool ask_new_passphrase = false;
  std::optional<std::string> new_passphrase_file;
  std::optional<std::string> format;  // without it: sealed; to decrypt, an authenticated one, detected
  std::optional<Cipher> cipher;
  std::optional<std::string> iv;
  std::optional<std::string> context;
  std::optional<std::string> label;
  std::optional<std::uint32_t> iterations;
  std::string input = "-";            // standard input, as for key files and passphrase files
  std::optional<std::string> output;  // without it: standard output
  bool in_place = false;              // rekey: the input is replaced
  std::string lanes = "auto";
  std::string kernel = "bitslice";
  std::optional<std::size_t> chunk_bytes;
  std::optional<std::string> stats;
  std::optional<std::string> trace;
  bool progress = false;
  std::optional<std::uint64_t> size;  // of the input, as the user expects it
  bool force = false;                 // to a terminal too
  Messages::Level level = Messages::Level::normal;

  bool names_input() const { return input != "-"; }
};

// UsageError for what the contract does not know. Values are looked at only as far as their form goes:
// whether a file, a format or a lane exists shows where it is used.
Options parse_options(int argc, const char* const* argv);

// What -c takes. UsageError.
Cipher parse_cipher(const std::string& name);

// A number of bytes, with K, M, G or T of 1024 behind it. UsageError.
std::uint64_t parse_expected_size(const std::string& text);

// A number of bytes from 1 to 1 GiB, with K, M or G of 1024 behind it. UsageError.
std::size_t parse_size(const std::string& text);

// OFFSET:LENGTH or OFFSET:, each with K, M, G or T of 1024 behind it. UsageError.
ByteRange parse_range(const std::string& text);

// What --label takes, as given: 1 to 255 bytes of UTF-8. UsageError.
std::string parse_label(const std::string& text);

struct KeygenOptions {
  enum class Action { generate, generate_identity, show_recipient, help, version };

  Action action = Action::generate;
  std::optional<std::string> output;    // without it: standard output
  std::optional<std::string> identity;  // whose recipient is to be shown
};

// The command line of gpuaes-keygen. UsageError.
KeygenOptions parse_keygen_options(int argc, const char* const* argv);

// What -h prints.
std::string help_text();
std::string keygen_help_text();

}  // namespace gpuaes
