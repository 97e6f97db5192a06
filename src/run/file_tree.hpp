// The files below directories that a command line names.
#pragma once

#include <cstdint>
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
  // If `opens`, a sealed file in parts counts as a file.
  FileTree(bool opens, std::function<bool(const std::string& directory)> skips)
      : opens_(opens), skips_(std::move(skips)) {}

  void enter(const std::string& directory);
  bool is_open() const { return !levels_.empty(); }

  // The next file; or a directory that cannot be read, for which opening reports the error. Nothing at the
  // end.
  std::optional<std::string> next();

  // Symbolic links and special files, and the first of their names.
  std::uint64_t skipped() const { return skipped_; }
  const std::string& first_skipped() const { return first_skipped_; }

 private:
  void skip(std::string path);

  struct Entry {
    std::string path;
    bool is_directory;
  };
  using Level = std::vector<Entry>;  // of a directory, the next one last

  bool opens_;
  std::function<bool(const std::string& directory)> skips_;
  std::vector<Level> levels_;
  std::uint64_t skipped_ = 0;
  std::string first_skipped_;
};

}  // namespace gpuaes
