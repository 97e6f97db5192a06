// The files of a sealed file in parts, which is a directory (gpuaes-parts(1), "FILES").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/directory.hpp"

namespace gpuaes {

inline constexpr char job_name[] = "job", head_name[] = "head", index_name[] = "index";

// The name of a part's file: part.0000003.
std::string part_name(std::uint32_t number);

// What the names of the incomplete files of an attempt begin with: .part.0000003.HOST.PID.
std::string attempt_prefix(std::string_view file);

struct Attempt {
  std::string file;  // that it is for: a part, or the index
  std::string host;
  std::string pid;
};

// The attempt that has an incomplete file of that name. None for other names.
std::optional<Attempt> parse_attempt(std::string_view name);

// One more than the largest number of a part in a list of names, or 0.
std::uint32_t count_listed(const std::vector<std::string>& names);

// IoError unless the directory contains a sealed file in parts that has been joined.
void require_joined(const Directory& directory);

}  // namespace gpuaes
