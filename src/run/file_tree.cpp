#include "run/file_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "format/parts/directory.hpp"
#include "io/temporary_name.hpp"

namespace gpuaes {

namespace fs = std::filesystem;

void FileTree::enter(const std::string& directory) {
  const std::string before = directory.ends_with('/') ? directory : directory + '/';
  Level level;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    const fs::file_status status = entry->symlink_status(unknown);
    const std::string name = entry->path().filename().string();
    std::string path = before + name;
    const bool is_directory = fs::is_directory(status);
    if (is_directory && skips_(path)) continue;
    if (fs::status_known(status) && !is_directory && !fs::is_regular_file(status))
      skip(std::move(path));
    else if (is_directory || !is_temporary_name(name))  // opening what is unknown reports why
      level.push_back({std::move(path), is_directory && is_tree(before + name, opens_)});
  }
  if (error) level.push_back({directory, false});
  std::ranges::sort(level, std::greater(), &Entry::path);
  levels_.push_back(std::move(level));
}

void FileTree::skip(std::string path) {
  if (skipped_++ == 0 || path < first_skipped_) first_skipped_ = std::move(path);
}

std::optional<std::string> FileTree::next() {
  while (!levels_.empty()) {
    if (levels_.back().empty()) {
      levels_.pop_back();
      continue;
    }
    Entry entry = std::move(levels_.back().back());
    levels_.back().pop_back();
    if (!entry.is_directory) return std::move(entry.path);
    enter(entry.path);
  }
  return std::nullopt;
}

}  // namespace gpuaes
