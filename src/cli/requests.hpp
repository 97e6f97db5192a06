// What a command line asks for: one request for each action. A request is made of smaller structs, so that
// each function takes only what it reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cipher/ciphers.hpp"
#include "files/conflicts.hpp"
#include "files/named_file.hpp"
#include "format/parts/frames.hpp"
#include "lane/backends.hpp"

namespace gpuaes {

struct Format;

inline constexpr unsigned default_attempts = 3;

// An argument that is not the name of a file, with its option.
struct Argument {
  std::string text, option;
};

// The keys and passphrases that options name.
struct SecretOptions {
  std::vector<NamedFile> key_files{};
  bool ask_passphrase = false;
  unsigned attempts = default_attempts;  // to enter the right passphrase, also that of a key file
  bool generates_passphrase = false;     // if a new one is left empty
  std::optional<NamedFile> passphrase_file{};
  std::optional<Argument> passphrase_command{};
};

// A recipient, or a file of them.
using RecipientArgument = std::variant<std::string, NamedFile>;

// What secrets are for. Identities can encrypt only if the user asks for that: -d may have been forgotten.
enum class Purpose { open, seal, seal_for_identities, rekey };

struct SecretRequest {
  SecretOptions named{};
  Purpose purpose = Purpose::seal;
  std::vector<RecipientArgument> recipients{};
  std::vector<Argument> plugins{};  // names of age plugins without data
  bool ask_if_needed = false;       // if none is given: the input shows which secrets open it
  bool warn_if_readable = true;     // by other users
  bool only_identities = false;     // key files are errors
};

struct InputRequest {
  NamedFile file{.kind = NamedFile::Kind::data};
  std::vector<std::string> command{};  // whose output is the input, unless empty
  // Anything but a regular file, a block device or a directory is an error: opening it could wait.
  bool only_file = false;
  bool is_tree = false;  // a directory; its files are the inputs
  // Whether the name follows that of a key or recipients file, and ends alike: the shell may have expanded a
  // pattern such as *.pub.
  bool may_be_key = false;

  bool is_named() const { return !file.is_standard(); }
};

inline InputRequest input_from(const std::string& name, const std::string& option = {}) {
  return {.file = {name, option, NamedFile::Kind::data}};
}

struct InputsRequest {
  std::vector<InputRequest> named{};  // several only for some actions; empty if there is a list
  std::optional<NamedFile> list{};    // a file with names of inputs, read as they are needed
  char separator = '\n';              // after each name in the list
  bool opens = false;                 // a directory may be a sealed file in parts

  // Whether names are found only while inputs are read.
  bool finds_names() const { return list || std::ranges::any_of(named, &InputRequest::is_tree); }
  bool several() const { return named.size() > 1 || finds_names(); }
  InputRequest first() const { return named.empty() ? InputRequest{} : named.front(); }
  bool is_named() const { return list || first().is_named(); }
};

struct OutputRequest {
  std::optional<NamedFile> file{};       // standard output if neither is set
  std::optional<NamedFile> directory{};  // for one output for each input
  bool skip_existing = false;            // in the directory, if it was made from this version of the input
  bool sparse = false;                   // zeros become holes
  bool force = false;                    // write to a terminal anyway
};

struct FormatRequest {
  const Format* named = nullptr;  // if null: chosen by the keys, or detected when decrypting
  std::optional<Cipher> cipher{};
  bool armor = false;  // write text
  std::optional<std::string> iv{}, context{}, label{};
  std::optional<std::uint32_t> iterations{};
};

// A part of a plaintext, in bytes.
struct ByteRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // to the end if not set
};

// The number of a part, from 0.
struct PartNumber {
  std::uint32_t number;
};

// What --range, --share or --part selects of a plaintext.
using Selection = std::variant<ByteRange, Share, PartNumber>;

// The portion of the input that a run processes.
struct WholeInput {};
struct Salvage {};  // the undamaged parts
struct IntoFile {   // a share, written at its place in a file that other processes write, too
  Share share;
  NamedFile file;
};
using StreamMode = std::variant<WholeInput, Selection, IntoFile, Salvage>;

// The option that requests the mode, or "".
const char* option_for(const StreamMode& mode);

struct StreamRequest {
  bool decrypt = false;
  bool test = false;  // write nothing
  StreamMode mode{};
  FormatRequest format{};
  std::optional<NamedFile> header{};  // a file whose header replaces the input's
  bool note_sealed = false;           // users of age may expect an age file
  bool only_part = false;             // decryption is implied only by --part or --share

  bool salvages() const { return std::holds_alternative<Salvage>(mode); }
  bool selects() const {
    return std::holds_alternative<Selection>(mode) || std::holds_alternative<IntoFile>(mode);
  }
};

struct LaneRequest {
  LaneChoice choice{};
  std::optional<std::size_t> chunk_bytes{};
};

// Files about the run.
struct ReportRequest {
  std::optional<NamedFile> stats{}, trace{};
};

// The files that requests read, for checks of conflicts. Those of secrets come before those of inputs.
void add_files(NamedInputs& files, const SecretRequest& secrets);
void add_files(NamedInputs& files, const StreamRequest& stream);
void add_files(NamedInputs& files, const InputRequest& input);
void add_files(NamedInputs& files, const InputsRequest& inputs);
template <class... Requests>
NamedInputs files_of(const Requests&... requests) {
  NamedInputs files;
  (add_files(files, requests), ...);
  return files;
}

// The requests ------------------------------------------------------------------------------------

struct FilterRequest {
  SecretRequest secrets;
  InputsRequest inputs;  // several only to verify, or with an output directory
  OutputRequest output;
  StreamRequest stream;
  LaneRequest lanes;
  ReportRequest reports;
  bool progress;
  bool list_verified;  // print a line for each input
};

struct InfoRequest {
  InputsRequest inputs;
  const Format* format;  // null if none is named
  bool json;
};

struct ExportHeaderRequest {
  InputRequest input;
  OutputRequest output;
  const Format* format;  // null if none is named
};

struct RekeyRequest {
  SecretRequest old_secrets, new_secrets;
  InputsRequest inputs;
  OutputRequest output;
  bool in_place;  // the output replaces the input
  FormatRequest format;
  bool progress;
};

struct ListLanesRequest {};
struct PrintRequest {
  std::string text;
};

using Request = std::variant<FilterRequest, InfoRequest, ExportHeaderRequest, RekeyRequest, ListLanesRequest,
                             PrintRequest>;

// Requests of gpuaes-parts ---------------------------------------------------------------------------

struct PlanRequest {
  SecretRequest secrets;
  InputRequest input;  // not named if each seal reads its own
  NamedFile directory;
  Cipher cipher;
  std::optional<std::string> label;
  std::optional<std::uint32_t> count;  // of parts
};

struct SealRequest {
  NamedFile directory;
  std::optional<std::uint32_t> part;  // all missing ones if not set
  InputRequest input;
  OutputRequest output;              // with a receipt, instead of the directory
  std::optional<NamedFile> receipt;  // a file to write
  bool verify;                       // read all of the complete part
  LaneRequest lanes;
  ReportRequest reports;
  bool progress;
};

struct StatusRequest {
  NamedFile directory;
  bool json;
  bool missing;  // print only the numbers of missing parts
};

struct JoinRequest {
  NamedFile directory;
  std::optional<std::uint32_t> count;  // of parts
  std::vector<NamedFile> receipts;
  std::optional<OutputRequest> single_file;
  bool progress;
};

using PartsRequest = std::variant<PlanRequest, SealRequest, StatusRequest, JoinRequest, PrintRequest>;

}  // namespace gpuaes
