// A sealed file in parts that is a directory (gpuaes-parts(1), "FILES"), as an input.
#pragma once

#include <cstdint>
#include <string>

#include "io/directory.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

inline constexpr char job_name[] = "job", head_name[] = "head", index_name[] = "index";

// The name of a part's file: part.0000003.
std::string part_name(std::uint32_t number);

// Whether `name` is a directory other than, if those are to be opened, a sealed file in parts.
bool is_tree(const std::string& name, bool opens);

// IoError unless the directory contains a sealed file in parts that has been joined; with the hint
// `otherwise` if it contains none.
void require_joined(const Directory& directory, const Hint& otherwise = {});

struct PartsDirectory {
  Directory directory;
  FdSource index;
  Cancel& cancel;
};

// IoError if the directory is not a joined sealed file, with the hint if it is something else.
PartsDirectory open_parts_directory(Directory directory, const Hint& otherwise, Cancel& cancel);

// Opens a file of the directory. AuthError if it is missing.
FdSource open_needed(const Directory& directory, const std::string& file, Cancel& cancel);

// The same for a file that is not read now.
void require_member(const Directory& directory, const std::string& file);

}  // namespace gpuaes
