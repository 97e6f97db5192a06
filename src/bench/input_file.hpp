// Standard input as a file that threads read in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuaes {

struct FileSpan {
  std::uint64_t begin;
  std::uint64_t end;
};

// From the current offset to the end. IoError unless standard input is a regular file or a block device with
// data left to read.
FileSpan rest_of_input();

// Reads a range into a buffer that is large enough. IoError.
void read_range(FileSpan range, std::span<std::byte> buffer);

}  // namespace gpuaes
