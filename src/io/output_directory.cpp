#include "io/output_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "io/naming.hpp"
#include "io/temp_file.hpp"

namespace gpuaes {
namespace {

constexpr int folder_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
constexpr int below_flags = folder_flags | O_NOFOLLOW;  // with O_PATH, a symbolic link is ENOTDIR
constexpr mode_t new_folder_mode = 0777;                // less umask

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// Opens or makes a folder, which another thread or process may make first.
Fd open_or_make(int parent, const char* name, int flags) {
  Fd fd(openat(parent, name, flags));
  if (fd.error() != ENOENT) return fd;
  const int error = error_of(mkdirat(parent, name, new_folder_mode));
  if (error == 0 || error == EEXIST) return Fd(openat(parent, name, flags));
  errno = error;
  return Fd(-1);
}

// In nanoseconds: ext4, NTFS, some FUSE file systems, exFAT, ext3, FAT.
constexpr std::int64_t second = 1'000'000'000;
constexpr std::array<std::int64_t, 7> time_units{1, 100, 1'000, 1'000'000, 10'000'000, second, 2 * second};

// Rounded down.
timespec rounded(timespec time, std::int64_t unit) {
  if (unit > second) time.tv_sec -= time.tv_sec % (unit / second);
  time.tv_nsec -= time.tv_nsec % std::min(unit, second);
  return time;
}

}  // namespace

OutputDirectory::OutputDirectory(std::string name)
    : name_(std::move(name)), fd_(open(name_.c_str(), folder_flags)) {}

void OutputDirectory::make() {
  if (fd_.get() < 0) fd_ = open_or_make(AT_FDCWD, name_.c_str(), folder_flags);
  if (fd_.get() >= 0) return;
  IoError failure = io_error("cannot open the directory", name_, fd_.error());
  if (fd_.error() == ENOENT) failure.set_hint("only the last directory of a path is created");
  throw failure;
}

std::string OutputDirectory::name_of(const std::string& path) const {
  return name_ == "." ? path : fmt::format("{}{}{}", name_, name_.ends_with('/') ? "" : "/", path);
}

Fd OutputDirectory::open_folder(const std::string& path) const {
  Fd folder(openat(fd_.get(), ".", folder_flags));
  for (std::size_t end = 0; folder.get() >= 0 && end < path.size(); ++end) {
    const std::size_t begin = end;
    end = std::min(path.find('/', begin), path.size());
    folder = open_or_make(folder.get(), path.substr(begin, end - begin).c_str(), below_flags);
  }
  if (folder.get() >= 0) return folder;
  const IoError failure = io_error("cannot open the directory", name_of(path), folder.error());
  if (folder.error() != ENOTDIR) throw failure;
  throw IoError(failure.what(),
                "a file or a symbolic link is in the way; links below the directory are not followed");
}

OutputDirectory::Place OutputDirectory::find(const std::string& path) {
  std::string folder = folder_of(path);
  Place place{open_folder(folder), {.name = name_of(path)}};
  OutputTarget& target = place.target;
  target.path = folder.empty() ? path : path.substr(folder.size() + 1);
  target.directory = place.folder.get();
  {
    const std::lock_guard lock(mutex_);
    folders_.insert(std::move(folder));
  }
  Fd file(openat(target.directory, target.path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (file.error() == ENOENT) return place;
  struct stat status {};
  if (file.get() < 0) throw io_error("cannot open", target.name, file.error());
  if (fstat(file.get(), &status) != 0) throw io_error("cannot stat", target.name, errno);
  if (!S_ISREG(status.st_mode))
    throw IoError(fmt::format("{} is {} and is not replaced", target.name,
                              S_ISLNK(status.st_mode) ? "a symbolic link" : "not a regular file"));
  target.status = status;
  target.file = std::make_shared<const Fd>(std::move(file));
  return place;
}

bool OutputDirectory::contains(const std::string& folder) const {
  struct stat own {
  }, here{}, above{};
  if (fstat(fd_.get(), &own) != 0) return false;
  Fd at(open(folder.c_str(), folder_flags));
  while (fstat(at.get(), &here) == 0) {
    if (is_same_inode(here, own)) return true;
    at = Fd(openat(at.get(), "..", folder_flags));
    if (fstat(at.get(), &above) != 0 || is_same_inode(here, above)) return false;  // the root
  }
  return false;
}

bool OutputDirectory::is_stored_time(const Place& place, const timespec& stored, const timespec& time) {
  if (is_same_time(stored, time)) return true;
  if (std::abs(stored.tv_sec - time.tv_sec) > time_units.back() / second) return false;
  const std::int64_t unit = time_unit(place);
  return unit > 0 && is_same_time(rounded(stored, unit), rounded(time, unit));
}

// The unit of modification times in the file system of a place, in nanoseconds; 0 if times cannot be set, or
// are stored in another way. Only a file shows it.
std::int64_t OutputDirectory::time_unit(const Place& place) try {
  struct stat folder {
  }, probed{};
  if (fstat(place.folder.get(), &folder) != 0) return 0;
  const std::lock_guard lock(mutex_);
  if (const auto known = time_units_.find(folder.st_dev); known != time_units_.end()) return known->second;
  OutputTarget target = place.target;
  target.file = nullptr;
  TempFile file(target, {});
  const Fd fd = file.take_fd();
  constexpr timespec time{.tv_sec = 1'000'000'001, .tv_nsec = 999'999'999};  // a multiple of no other unit
  if (!set_modification_time(fd.get(), time) || fstat(fd.get(), &probed) != 0) return 0;
  for (const std::int64_t unit : time_units)
    if (is_same_time(probed.st_mtim, rounded(time, unit))) time_units_[folder.st_dev] = unit;
  return time_units_[folder.st_dev];
} catch (const IoError&) {  // then no output can be written there, either
  return 0;
}

// A folder may have been removed in the meantime.
void OutputDirectory::sync() const {
  std::set<std::string> all;
  for (std::string folder : folders_)
    while (all.insert(folder).second && !folder.empty()) folder = folder_of(folder);
  const auto sync_at = [this](const std::string& folder) {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    sync_directory(Fd(openat(fd_.get(), folder.empty() ? "." : folder.c_str(), flags)), name_of(folder));
  };
  std::ranges::for_each(all, sync_at);
  sync_at("..");  // the directory's own name
}

}  // namespace gpuaes
