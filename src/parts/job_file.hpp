// The job file of gpuaes-parts (gpuaes-stream(5), "Job files"): the header and the file key of one sealed
// file, and its input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/messages.hpp"
#include "format/parts/frames.hpp"
#include "io/cancel.hpp"
#include "io/directory.hpp"
#include "keys/secret.hpp"
#include "parts/planned_input.hpp"

namespace gpuaes {

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
std::optional<JobFile> read_job(const Directory& directory, const Messages& messages, Cancel& cancel);

}  // namespace gpuaes
