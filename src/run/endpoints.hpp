// The input and the outputs of a run.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <optional>
#include <vector>

#include "cli/messages.hpp"
#include "cli/requests.hpp"
#include "format/header_reader.hpp"
#include "format/parts/directory.hpp"
#include "io/fd_source_sink.hpp"
#include "io/output_file.hpp"
#include "io/source_sink.hpp"
#include "process/child_process.hpp"
#include "run/file_conflicts.hpp"

namespace gpuaes {

// An opened input: a file, or the head of a directory that is a sealed file in parts.
struct InputFile {
  FdSource source;
  std::optional<PartsDirectory> directory{};
};

// Armored input: the bytes that the armor encodes, and their format.
struct Armor {
  std::unique_ptr<Source> source;
  const Format* format;
};

struct Endpoints {
  std::unique_ptr<ChildProcess> command{};  // whose output is the source, or null; not started yet
  FdSource source;
  std::optional<PartsDirectory> directory{};  // if the source is its head
  std::optional<Armor> armor{};               // see find_armor()
  std::unique_ptr<BodySource> parts{};        // reads from one of them; see Session::open_source()
  std::unique_ptr<Sink> output{};
  std::unique_ptr<Sink> stats{}, trace{};  // null unless requested
};

// Opens the input, which must not be a command. IoError if it cannot be opened; UsageError if its name is a
// secret.
InputFile open_input_file(const InputRequest& input, Cancel& cancel);

// Opens the input of a run. IoError also for a directory to encrypt.
Endpoints open_input(const InputRequest& input, bool decrypt, Cancel& cancel);

// Opens the output of a run, as found by find_outputs(). A share for a file that several processes write has
// no output yet. UsageError if ciphertext would go to a terminal; IoError if a file cannot be opened or
// replaced.
std::unique_ptr<Sink> open_output(const OutputRequest& output, const StreamRequest& stream,
                                  const OutputTargets& targets, std::optional<std::uint64_t> bytes,
                                  const Messages& messages, Cancel& cancel);

// Opens the sinks of the files about the run. IoError, UsageError.
void open_reports(Endpoints& endpoints, const OutputTargets& targets, const Messages& messages,
                  Cancel& cancel);

// For a small file about the run, such as its statistics, which is lost in a power failure unless `durable`.
SinkRules report_rules(const Messages& messages, bool durable = true);

// Returns a reader for the header at the beginning of `source`, which must outlive it. In a directory, the
// header is followed by the index.
HeaderReader header_reader(Source& source, PartsDirectory* directory = nullptr);

// If the input to decrypt begins with armor, of the named format if one is named, makes `input` read the
// bytes that the armor encodes. `input` reads from `source`, which must outlive the result, and has taken
// nothing.
std::optional<Armor> find_armor(const std::optional<std::string>& named, Source& source, HeaderReader& input);

// Prints a note if `source` is a terminal: otherwise the program would seem to hang.
void note_if_terminal(const FdSource& source, const Messages& messages);

}  // namespace gpuaes
