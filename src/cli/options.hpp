// The command line of gpuaes-stream. To add an option: see the list in options.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cipher/ciphers.hpp"
#include "cli/messages.hpp"
#include "cli/option_values.hpp"
#include "io/fd_source_sink.hpp"
#include "lane/backends.hpp"

namespace gpuaes {

struct Options {
  enum class Action { filter, info, rekey, help, version, list_lanes };

  Action action = Action::filter;
  bool decrypt = false;            // the secrets open the input: also for the three below, and to rekey
  bool test = false;               // nothing is written
  bool salvage = false;            // damage does not end the run
  std::optional<ByteRange> range;  // of the plaintext
  bool json = false;               // what info prints
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
  std::string input{standard_name};
  std::optional<std::string> output;  // without it: standard output
  bool in_place = false;              // to rekey: the input is replaced
  std::vector<LaneSpec> lanes;        // empty: auto
  CudaKernel kernel = default_cuda_kernel;
  std::optional<std::size_t> chunk_bytes;
  std::optional<std::string> stats;
  std::optional<std::string> trace;
  bool progress = false;              // the line of -P; never with -q
  std::optional<std::uint64_t> size;  // of the input, as the user expects it
  bool force = false;                 // to a terminal too
  Messages::Level level = Messages::Level::normal;

  bool names_input() const { return input != standard_name; }
};

// UsageError for unknown options, options that conflict and malformed values. Whether a file, a format or a
// device exists is found out where it is used.
Options parse_options(int argc, const char* const* argv);

// What -h prints.
std::string help_text();

}  // namespace gpuaes
