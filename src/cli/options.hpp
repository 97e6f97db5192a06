// The command line of gpuaes-stream, some of whose options are also those of gpuaes-parts. To add an option,
// see the list in stream_options.hpp.
#pragma once

#include <optional>
#include <string>

#include "cli/requests.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// The options of gpuaes-stream as given, from which requests are made. gpuaes-parts shares some of them.
struct Options {
  enum class Action { filter, info, export_header, rekey, completions, help, version, list_lanes };

  Action action = Action::filter;
  bool decrypt_explicitly = false;     // with -d
  bool decrypt = false;                // the secrets open the input; also set by modes that imply it
  bool encrypt_explicitly = false;     // -e is given
  bool test = false;                   // write nothing
  bool salvage = false;                // continue past damage
  std::optional<Selection> selection;  // of the plaintext
  bool old_share = false;              // --part I/N is given instead of --share
  bool json = false;                   // --info prints JSON
  SecretRequest secrets, new_secrets;  // the latter for --rekey
  FormatRequest format;
  InputsRequest inputs{.named = {InputRequest{}}};
  std::optional<NamedFile> header;  // a file with the header, to decrypt
  OutputRequest output;
  std::optional<NamedFile> into;  // a file that several processes write, instead of the output
  LaneRequest lanes;
  ReportRequest reports;
  bool progress = false;  // the line of -P
  Messages::Level level = Messages::Level::normal;
  std::string shell;  // of --completions
};

// What a command line asks for, and how much to print.
template <class Request>
struct Parsed {
  Messages::Level level = Messages::Level::normal;
  Request request;
  std::string note{};  // about the options; "" for none
};

// UsageError for unknown options, conflicting options and malformed values. Whether a file or device exists
// is checked where it is used.
Parsed<Request> parse_options(int argc, const char* const* argv);

// Whether there may be several inputs.
bool accepts_several(const Options& options);

// Parts of requests.
SecretRequest secret_request(const Options& options);
bool shows_progress(const Options& options);  // never with -q

}  // namespace gpuaes
