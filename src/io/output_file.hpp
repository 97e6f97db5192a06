// What -o names: a file that appears whole or not at all.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/source_sink.hpp"

namespace gpuaes {

// What the name of an output leads to, looked at before anything is opened.
struct OutputTarget {
  std::string name;                          // for messages
  std::optional<struct stat> status{};       // nothing if the file does not exist
  int error = 0;                             // errno, if stat(2) failed for another reason
  std::optional<int> standard_descriptor{};  // standard output or error, if that is the target
  std::filesystem::path path{};  // symbolic links followed; empty without a name, or if that failed
};

// The target of the output `name`, or standard output.
OutputTarget find_output(const std::optional<std::string>& name);

struct SinkRules {
  // What a terminal gets; the rest is a UsageError. Ciphertext would only disturb it (io/text_sink.hpp).
  enum class Terminal { nothing, text, everything };
  Terminal terminal = Terminal::everything;
  bool durable = true;  // a file is synced before it gets its name
  const char* hint = "redirect the output with > to write to the file in place";  // what to do about a file
                                                                                  // that cannot be replaced
  // Called right before a file that is whole gets its name; what it throws leaves the old one. May be empty.
  std::function<void()> before_rename = {};
  // Called with a warning when a file's access could not be kept. May be empty.
  std::function<void(const std::string&)> warn = {};
};

// A sink for `target`. A regular file, and one that does not exist yet, is a TempFile until finish(): it
// appears complete or not at all. A new one gets the access that the shell's > would give it; an existing one
// keeps its own (file_access.hpp), and must be one that > could write. That it can be replaced is checked
// here, before any work. Anything else (a FIFO, a device) is written in place, and so is a file that is
// standard output or error already. IoError; UsageError as `rules` say.
std::unique_ptr<Sink> open_sink(const OutputTarget& target, const SinkRules& rules, Cancel& cancel);

}  // namespace gpuaes
