#include "io/directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.hpp"
#include "io/temp_file.hpp"

namespace gpuaes {
namespace {

std::string without_slashes(std::string name) {
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name;
}

}  // namespace

Directory::Directory(const std::string& name) : Directory(name, name, 0) {}

Directory::Directory(const std::filesystem::path& path, std::string name, int flags)
    : Directory(Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)), std::move(name)) {}

Directory::Directory(Fd fd, std::string name) : name_(without_slashes(std::move(name))), fd_(std::move(fd)) {
  if (fd_.get() < 0) throw io_error("cannot open", name_, errno);
}

Directory Directory::make(const std::filesystem::path& path_or_slashes, const std::string& name) {
  const std::filesystem::path path = without_slashes(path_or_slashes);  // or a link would be followed
  if (mkdir(path.c_str(), 0700) != 0) throw io_error("cannot make the directory", name, errno);
  try {
    Directory made(path, name, O_NOFOLLOW);
    made.require_private();  // it could have been replaced
    return made;
  } catch (...) {
    rmdir(path.c_str());
    throw;
  }
}

// Another process may remove the directory at any time.
std::optional<Directory> Directory::open_private(const std::filesystem::path& path, const std::string& name) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.get() < 0 && errno == ENOENT) return std::nullopt;
  Directory directory(std::move(fd), name);
  directory.require_private();
  return directory;
}

void Directory::require_private() const {
  struct stat status {};
  if (fstat(fd_.get(), &status) != 0) throw io_error("cannot stat", name_, errno);
  if (status.st_uid != geteuid())
    throw IoError(fmt::format("{} belongs to another user", name_), "run the command as that user");
  if ((status.st_mode & 022) != 0)
    throw IoError(fmt::format("other users may write to {}", name_),
                  "remove that permission with chmod go-w");
}

std::string Directory::name_of(const std::string& file) const {
  return name_ == "." ? file : fmt::format("{}/{}", name_, file);
}

std::filesystem::path Directory::path_of(const std::string& file) const {
  return std::filesystem::path(path_of_descriptor(fd_.get())) / file;
}

std::optional<struct stat> Directory::status_of(const std::string& file) const {
  struct stat status {};
  if (fstatat(fd_.get(), file.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return status;
  if (errno != ENOENT) throw io_error("cannot stat", name_of(file), errno);
  return std::nullopt;
}

std::optional<FdSource> Directory::open(const std::string& file, Cancel& cancel) const {
  Fd fd(openat(fd_.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (fd.get() < 0 && errno == ENOENT) return std::nullopt;
  if (fd.get() < 0) throw io_error("cannot open", name_of(file), errno);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw IoError(fmt::format("{} is not a regular file", name_of(file)));
  return FdSource(std::move(fd), name_of(file), cancel);
}

std::vector<std::string> Directory::list() const {
  std::vector<std::string> names = names_in(path_of("."));
  if (names.empty()) throw io_error("cannot read", name_, errno);
  return names;
}

void Directory::remove(const std::string& file) const {
  if (unlinkat(fd_.get(), file.c_str(), 0) != 0 && errno != ENOENT)
    throw io_error("cannot remove", name_of(file), errno);
}

void Directory::sync() const {
  sync_directory_of(path_of("."));
}

}  // namespace gpuaes
