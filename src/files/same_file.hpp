// Whether names lead to the same file.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

namespace gpuaes {

// Whether both are the same regular file or block device: writing to one overwrites the other.
bool is_same_file(const struct stat& a, const struct stat& b);

// The canonical absolute path; empty if it cannot be determined.
std::filesystem::path canonical_path(const std::filesystem::path& path);

// None if there is no such file.
std::optional<struct stat> status_of(const std::string& name, int directory = AT_FDCWD);

// Files, whatever their names are. From any thread.
class FileSet {
 public:
  // The file at `name`, found from `directory`; or, if it is empty, the file that is open as `directory`. No
  // file if it does not exist.
  void add(int directory, const std::string& name = {}, int flags = 0);
  bool contains(int directory, const std::string& name = {}, int flags = 0) const;

 private:
  // The inode number of a file that was removed may be given to a new one, which is born later.
  struct Identity {
    std::uint64_t device, inode, born;
    bool operator==(const Identity&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Identity& file) const noexcept { return file.inode * 31 + file.born; }
  };
  static std::optional<Identity> find(int directory, const std::string& name, int flags);

  mutable std::mutex mutex_;
  std::unordered_set<Identity, Hash> files_;  // guarded by mutex_
};

}  // namespace gpuaes
