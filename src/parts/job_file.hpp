// The job file of gpuaes-parts (gpuaes-stream(5), "Job files"): the header and the file key of one sealed
// file.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/messages.hpp"
#include "format/parts.hpp"
#include "io/cancel.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

struct JobFile {
  std::vector<std::byte> header;  // of the sealed file, through its MAC
  FrameSecret secret;
};

// The contents of a job file.
Secret encode_job(std::span<const std::byte> header, const Secret& file_key,
                  const std::optional<std::string>& label);

// AuthError if these are not the contents of a job file or are damaged; VersionError if they have another
// version. `name` is for messages.
JobFile decode_job(std::span<const std::byte> bytes, const std::string& name);

// Warns if other users can read it. Also IoError, and UsageError if the name is a secret.
JobFile read_job(const std::string& name, const Messages& messages, Cancel& cancel);

}  // namespace gpuaes
