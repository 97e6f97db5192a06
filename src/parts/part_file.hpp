// The files in the directory of a sealed file in parts, for the commands that write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/parts/frames.hpp"
#include "io/directory.hpp"
#include "io/fd_source_sink.hpp"
#include "io/output_file.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

struct Attempt {
  std::string file;  // the file it is for: a part, or the index
  std::string host;
  std::string pid;
};

// The attempt that has an incomplete file of that name: .part.0000003.HOST.PID.RANDOM. None for other names.
std::optional<Attempt> parse_attempt(std::string_view name);

// One more than the largest number of a part in a list of names, or 0.
std::uint32_t count_listed(const std::vector<std::string>& names);

// Calls `action(i)` for each i below `count`, from several threads, since each may open a file on a slow
// network file system. Throws the exception of the smallest i, if there is one.
void for_each_at_once(std::size_t count, const std::function<void(std::size_t)>& action);

// A file in the directory, and rules that never replace it. While it is incomplete, its name shows the
// attempt.
OutputTarget member_target(const Directory& directory, const std::string& file);
SinkRules member_rules(const std::string& file, const Messages& messages);
std::unique_ptr<Sink> open_member(const Directory& directory, const std::string& file,
                                  const Context& context);

// Checks everything about a part except the segments before the last one: size, commitment, last tag. The
// file, at its beginning, then continues after the frame header. AuthError if it is not a complete part for
// `secret`.
FrameHeader check_part(FdSource& file, const FrameSecret& secret);

// I/N, or I if all of an input is the part.
std::string share_text(std::uint32_t number, std::uint32_t of);

// Sorted numbers as sbatch --array takes them: 3,7-9.
std::string ranges_text(const std::vector<std::uint32_t>& numbers);

}  // namespace gpuaes
