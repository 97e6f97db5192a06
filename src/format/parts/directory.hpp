// A sealed file in parts that is a directory, as an input.
#pragma once

#include <memory>

#include "format/parts/source.hpp"
#include "io/directory.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

struct PartsDirectory {
  Directory directory;
  FdSource index;
};

// IoError if the directory is not a joined sealed file.
PartsDirectory open_parts_directory(const std::string& name, Cancel& cancel);

// The file that begins with the header. AuthError if it is missing.
FdSource open_head(const PartsDirectory& input, Cancel& cancel);

// The parts, each opened when it is first read. `session` was opened with the index. With `all`, checks now
// that all files are there. AuthError if the index is wrong, or a file is missing or has another
// size than the index says; with `salvage`, such a part is lost.
std::unique_ptr<PartsSource> make_directory_parts(const PartsDirectory& input, PartsSession& session,
                                                  bool all, bool salvage, Cancel& cancel);

}  // namespace gpuaes
