// Output files, which appear complete or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "io/cancel.hpp"
#include "io/output_target.hpp"
#include "io/source_sink.hpp"
#include "io/temp_file.hpp"

namespace gpuaes {

// From this size on, outputs are written directly, and naming is tried before the work begins.
inline constexpr std::uint64_t large_output = 64 << 20;

struct SinkRules {
  // What may be written to a terminal. Anything else is a UsageError. Text is what TerminalTextCheck accepts.
  enum class Terminal { nothing, text, everything };
  Terminal terminal = Terminal::everything;
  bool durable = true;                   // sync a file before it gets its name
  bool durable_name = true;              // then sync its directory, too
  bool sparse = false;                   // in a regular file, blocks of zeros become holes
  std::optional<std::uint64_t> bytes{};  // the approximate number expected, if known
  // From this size on, a file is written directly to the disk, if possible. Its data then does not stay in
  // the page cache.
  std::uint64_t direct_from = std::numeric_limits<std::uint64_t>::max();
  // For the file until it is published. The hint is for an existing file that cannot be replaced.
  TempFile::Rules temp = {.hint = "redirect the output with > to write to the file in place"};
  // A complete file that cannot get its name, or whose last step fails, is synced and not thrown away
  // (TempFile::keep).
  bool keep = true;
  // Called with the descriptor of a complete file, before it is synced and gets its name. May be empty.
  std::function<void(int fd)> complete = {};
  // Called before the last step. If it throws, the output is removed, and the old file stays. May be empty.
  std::function<void()> check = {};
  // Called with a warning if the access of a file could not be kept. May be empty.
  std::function<void(const std::string&)> warn = {};
};

// A sink for `target`. A regular file, old or new, is a TempFile until publish(). A new file gets the access
// that the shell's > would give it. A file that exists now keeps its access, or what of it can be kept, and
// must be writable with >; whether it can be replaced is checked here, before any work. If the name belongs
// to another file in the end, the output is a new file. Anything else, such as a FIFO or a device, is written
// in place, and so is a file that already is standard output or error. With IfExists::refuse, the file must
// not exist, now or when it is complete: FileExists. IoError; UsageError according to `rules`.
std::unique_ptr<Sink> open_sink(const OutputTarget& target, const SinkRules& rules, Cancel& cancel);

}  // namespace gpuaes
