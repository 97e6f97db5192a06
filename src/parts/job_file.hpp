// The job file of gpuaes-parts (gpuaes-stream(5), "Job files"): the header and the file key of one sealed
// file, and its input.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/named_file.hpp"
#include "format/parts/frames.hpp"
#include "io/directory.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/secret.hpp"
#include "terminal/context.hpp"

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

struct JobFile {
  std::vector<std::byte> header;  // of the sealed file, through its MAC
  FrameSecret secret;
  std::uint32_t count = 0;  // of parts; 0 if the plan does not know it
  std::optional<PlannedInput> input;
};

// The contents of a job file.
Secret encode(const JobFile& job);

// AuthError if these are not the contents of a job file or are damaged; VersionError if they have another
// version. `name` is for messages.
JobFile decode_job(std::span<const std::byte> bytes, const std::string& name);

// The hint if a directory has no job file.
inline constexpr char no_job_hint[] = "it was not made by gpuaes-parts plan, or plan did not finish";

// The job file in a directory. Nothing if it does not exist. Warns if other users can read it. Also IoError.
std::optional<JobFile> read_job(const Directory& directory, const Context& context);

// The input of a plan --------------------------------------------------------------------------------

// Opens a file or block device that is going to be sealed in parts. UsageError if it is anything else; in
// particular, does not wait for the other end of a FIFO. IoError.
FdSource open_planned(const NamedFile& file, Cancel& cancel);

// Records it. If it was modified recently, waits until any further modification must change its time, by the
// clock of `directory`; `probe` is a file there that this program made. IoError if it is being modified.
PlannedInput plan_input(const FdSource& file, const Directory& directory, const std::string& probe,
                        Cancel& cancel);

// IoError if the file has changed since it was planned. A file with another name, as on another host, may
// have another time of its last status change.
void check_planned(const PlannedInput& planned, const FdSource& file, bool other_name);

// Throws that IoError, for a file that is of another type.
[[noreturn]] void refuse_kind(const std::string& name);

}  // namespace gpuaes
