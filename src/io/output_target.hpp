// What the name of an output refers to.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "io/cancel.hpp"
#include "io/fd.hpp"

namespace gpuaes {

// Determined before anything else is done.
struct OutputTarget {
  std::string name;                          // for messages
  std::string option{};                      // that names it, before errors of opening it; may be empty
  std::optional<struct stat> status{};       // none if the file does not exist
  std::shared_ptr<const Fd> file{};          // the file, opened with O_PATH; null if it does not exist
  std::optional<IoError> error{};            // if it cannot be opened
  std::optional<int> standard_descriptor{};  // standard output or error, if that is the target
  std::filesystem::path path{};              // never of a symbolic link; empty without a name, or on error
  int directory = AT_FDCWD;  // must stay open while the target or its sink exists; `path` is relative to it

  const std::string& shown() const { return option.empty() ? name : option; }  // in messages about conflicts
};

// The target of the output `name`, or standard output. The kernel follows symbolic links, which must lead to
// an existing file.
OutputTarget find_output(const std::optional<std::string>& name, int directory = AT_FDCWD);

// Whether the target is not a regular file that an output can replace, but is written in place: a FIFO, a
// device, a descriptor in /dev/fd, or standard output or error.
bool is_written_in_place(const OutputTarget& target);

// Opens such a target. IoError, also if the name belongs to another file by now; Cancelled.
Fd open_in_place(const OutputTarget& target, Cancel& cancel);

}  // namespace gpuaes
