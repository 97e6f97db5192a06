// The parts of a file to join, from the parts themselves or from their receipts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/parts/frames.hpp"
#include "io/directory.hpp"
#include "io/fd_source_sink.hpp"
#include "parts/job_file.hpp"

namespace gpuaes {

struct JoinedPart {
  FrameHeader header;
  std::string name;  // of the file with the part or its receipt
};

// Reads the parts with these numbers, several at a time, since they may be on a slow file system. AuthError
// if one does not belong to `secret` or is not complete; IoError if one is missing.
std::vector<JoinedPart> read_parts(const Directory& directory, const std::vector<std::uint32_t>& numbers,
                                   const FrameSecret& secret, Cancel& cancel);

// Adds the receipts in a file. AuthError if one does not belong to `secret`.
void add_receipts(std::vector<JoinedPart>& parts, FdSource& file, const FrameSecret& secret);

// Sorts the parts, which must be all of the file. AuthError if one is given twice, or if they are not the
// parts of the planned input.
void sort_and_check(std::vector<JoinedPart>& parts, const std::optional<PlannedInput>& input);

// Writes the index of sorted parts, and the number of parts.
void write_index(const std::vector<JoinedPart>& parts, const FrameSecret& secret, Sink& sink);

}  // namespace gpuaes
