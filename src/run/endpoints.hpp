// The input and the outputs of a run.
#pragma once

#include <memory>
#include <optional>

#include "cli/requests.hpp"
#include "files/conflicts.hpp"
#include "format/opened_input.hpp"
#include "format/parts/directory.hpp"
#include "io/fd_source_sink.hpp"
#include "io/output_file.hpp"
#include "io/source_sink.hpp"
#include "process/child_process.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

// An opened input: a file, or the head of a directory that is a sealed file in parts.
struct InputFile {
  FdSource source;
  std::optional<PartsDirectory> directory{};
};

struct Endpoints {
  std::unique_ptr<ChildProcess> command{};  // whose output is the source, or null; not started yet
  FdSource source;
  std::optional<PartsDirectory> directory{};  // if the source is its head
  std::unique_ptr<OpenedInput> encrypted{};   // to decrypt
  std::unique_ptr<BodySource> parts{};        // reads from one of them; see Session::open_source()
  std::unique_ptr<Sink> output{};
};

// Opens the input, which must not be a command. IoError if it cannot be opened, also for a directory to
// encrypt.
InputFile open_input_file(const InputRequest& input, bool decrypt, Cancel& cancel);

// Opens the input of a run, with the same errors.
Endpoints open_input(const InputRequest& input, bool decrypt, Cancel& cancel);

// From this size on, a decrypted file would displace much of what is in the page cache. A smaller one is
// usually read next, so it is left there.
std::uint64_t uncached_plaintext_bytes();

// The rules for the output of a run with `bytes` bytes of input, if known.
SinkRules output_rules(const OutputRequest& output, const StreamRequest& stream,
                       std::optional<std::uint64_t> bytes, const Messages& messages);

// Opens the output of a run; without a target, one that keeps nothing. Null for a share of a file that other
// processes write, too: open_stream() opens that. UsageError if ciphertext would go to a terminal; IoError if
// a file cannot be opened or replaced.
std::unique_ptr<Sink> open_output(const OutputRequest& output, const StreamRequest& stream,
                                  const std::optional<OutputTarget>& target, const FdSource& source,
                                  const Context& context);

// Prints a note if `source` is a terminal: otherwise the program would seem to hang.
void note_if_terminal(const FdSource& source, const Messages& messages);

}  // namespace gpuaes
