// The input of a plan, as recorded in the job file, and its comparison with the input of an attempt.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "io/cancel.hpp"
#include "io/directory.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

struct FileTime {
  std::int64_t seconds = 0;
  std::uint32_t nanoseconds = 0;

  auto operator<=>(const FileTime&) const = default;
};

struct PlannedInput {
  std::string name;        // absolute, with its symbolic links
  bool is_device = false;  // a block device: only its size is known
  std::uint64_t size = 0;  // bytes
  FileTime modified, changed;
};

// Opens a file or block device that is going to be sealed in parts. UsageError if it is anything else; in
// particular, does not wait for the other end of a FIFO. IoError.
FdSource open_planned(const std::string& name, Cancel& cancel);

// Records it. If it was modified recently, waits until any further modification must change its time, by the
// clock of `directory`; `probe` is a file there that this program made. IoError if it is being modified.
PlannedInput plan_input(const FdSource& file, const std::string& name, const Directory& directory,
                        const std::string& probe, Cancel& cancel);

// IoError if the file has changed since it was planned. A file with another name, as on another host, may
// have another time of its last status change.
void check_planned(const PlannedInput& planned, const FdSource& file, bool other_name);

// Throws that IoError.
[[noreturn]] void refuse_changed(const std::string& name);

}  // namespace gpuaes
