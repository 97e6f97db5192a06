#include "files/same_file.hpp"

#include <sys/sysmacros.h>

#include <system_error>

#include "io/fd.hpp"

namespace gpuaes {

// If the file system has no times of birth, the inode number alone must suffice.
std::optional<FileSet::Identity> FileSet::find(int directory, const std::string& name, int flags) {
  struct statx status {};
  if (statx(directory, name.c_str(), flags | (name.empty() ? AT_EMPTY_PATH : 0), STATX_INO | STATX_BTIME,
            &status) != 0)
    return std::nullopt;
  const auto born = static_cast<std::uint64_t>(status.stx_btime.tv_sec) * 1'000'000'000;
  return Identity{gnu_dev_makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino,
                  born + status.stx_btime.tv_nsec};
}

void FileSet::add(int directory, const std::string& name, int flags) {
  const std::optional<Identity> file = find(directory, name, flags);
  const std::lock_guard lock(mutex_);
  if (file) files_.insert(*file);
}

bool FileSet::contains(int directory, const std::string& name, int flags) const {
  const std::optional<Identity> file = find(directory, name, flags);
  const std::lock_guard lock(mutex_);
  return file && files_.contains(*file);
}

std::optional<struct stat> status_of(const std::string& name, int directory) {
  struct stat status {};
  return fstatat(directory, name.c_str(), &status, 0) == 0 ? std::optional(status) : std::nullopt;
}

std::filesystem::path canonical_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? std::filesystem::path() : std::filesystem::weakly_canonical(absolute, error);
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  if (S_ISBLK(a.st_mode) && S_ISBLK(b.st_mode)) return a.st_rdev == b.st_rdev;
  return S_ISREG(a.st_mode) && S_ISREG(b.st_mode) && is_same_inode(a, b);
}

}  // namespace gpuaes
