// The parts that gpuaes-parts join lists in the index, from their files and from receipts.
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

  std::uint32_t number() const noexcept { return header.number; }
};

// Reads the parts with these numbers. AuthError if one does not belong to `secret` or is not complete;
// IoError if one is missing.
std::vector<JoinedPart> read_parts(const Directory& directory, const std::vector<std::uint32_t>& numbers,
                                   const FrameSecret& secret, Cancel& cancel);

// Adds the receipts in a file. AuthError if one does not belong to `secret`.
void add_receipts(std::vector<JoinedPart>& parts, FdSource& file, const FrameSecret& secret);

// Sorts the parts, which must be all of the file. AuthError if one is given twice, or if they are not the
// parts of the planned input.
void sort_and_check(std::vector<JoinedPart>& parts, const std::optional<PlannedInput>& input);

}  // namespace gpuaes
