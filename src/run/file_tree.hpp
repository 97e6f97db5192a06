// The files below directories that a command line names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuaes {

// Finds the regular files below a directory, in order of names. Does not follow symbolic links. Leaves out
// temporary files of this program.
class FileTree {
 public:
  // If `opens`, a sealed file in parts counts as a file. `skips` may be empty.
  FileTree(bool opens, std::function<bool(const std::string& directory)> skips)
      : opens_(opens), skips_(std::move(skips)) {}

  void enter(const std::string& directory);
  bool is_open() const { return !levels_.empty(); }

  // The next file; or a directory that cannot be read, for which opening reports the error. Nothing at the
  // end.
  std::optional<std::string> next();

 private:
  struct Entry {
    std::string path;
    bool is_directory;
  };
  using Level = std::vector<Entry>;  // of a directory, the next one last

  bool opens_;
  std::function<bool(const std::string& directory)> skips_;
  std::vector<Level> levels_;
};

}  // namespace gpuaes
