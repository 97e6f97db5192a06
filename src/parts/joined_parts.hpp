// The parts of a file to join, from the parts themselves or from their receipts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "format/parts.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

struct JoinedPart {
  FrameHeader header;
  const std::string* name;  // of the file with the part or its receipt
};

// Adds the part or the receipts in a file. AuthError if it does not belong to `secret` or is not complete;
// UsageError if a part is not in a file.
void add_part(std::vector<JoinedPart>& parts, const std::string& name, FdSource& file,
              const FrameSecret& secret);
void add_receipts(std::vector<JoinedPart>& parts, const std::string& name, FdSource& file,
                  const FrameSecret& secret);

// Sorts the parts. AuthError if one is missing or given twice, or if they were not cut from one input.
// `count` is the number of parts according to the user; UsageError if it is needed and not given.
void sort_and_check(std::vector<JoinedPart>& parts, std::optional<std::uint32_t> count);

// Writes the index of sorted parts, and the number of parts.
void write_index(const std::vector<JoinedPart>& parts, const FrameSecret& secret, Sink& sink);

}  // namespace gpuaes
