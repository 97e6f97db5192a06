#include "io/directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.hpp"
#include "io/naming.hpp"

namespace gpuaes {
namespace {

std::string without_slashes(std::string name) {
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name;
}

constexpr int open_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

}  // namespace

Directory::Directory(const std::string& name) : Directory(Fd(::open(name.c_str(), open_flags)), name) {}

Directory::Directory(Fd fd, std::string name) : name_(without_slashes(std::move(name))), fd_(std::move(fd)) {
  if (fd_.get() < 0) throw io_error("cannot open", name_, fd_.error());
}

Directory Directory::make(const std::string& file, const Directory* parent) {
  const int at = parent != nullptr ? parent->descriptor() : AT_FDCWD;
  const std::string path = without_slashes(file);  // with a slash, a link would be followed
  const std::string name = parent != nullptr ? parent->name_of(file) : file;
  if (mkdirat(at, path.c_str(), 0700) != 0) throw io_error("cannot make the directory", name, errno);
  try {
    Directory made(Fd(openat(at, path.c_str(), open_flags | O_NOFOLLOW)), name);
    made.require_private();  // it could have been replaced
    return made;
  } catch (...) {
    unlinkat(at, path.c_str(), AT_REMOVEDIR);
    throw;
  }
}

// Another process may remove the directory at any time.
std::optional<Directory> Directory::open_private(const std::string& file) const {
  Fd fd(openat(fd_.get(), file.c_str(), open_flags | O_NOFOLLOW));
  struct stat status {};
  const int error = fd.get() < 0 ? fd.error() : error_of(fstat(fd.get(), &status));
  if (error == ENOENT || error == ESTALE) return std::nullopt;
  Directory directory(std::move(fd), name_of(file));
  directory.require_private();
  return directory;
}

void Directory::require_private() const {
  struct stat status {};
  if (fstat(fd_.get(), &status) != 0) throw io_error("cannot stat", name_, errno);
  if (status.st_uid != geteuid())
    throw IoError(fmt::format("{} belongs to another user", name_), "run the command as that user");
  if ((status.st_mode & 022) != 0)
    throw IoError(
        fmt::format("other users may write to {}", name_),
        "remove that permission with chmod go-w; if the file system has no modes, mount it with umask=022");
}

std::string Directory::name_of(const std::string& file) const {
  return name_ == "." ? file : fmt::format("{}/{}", name_, file);
}

std::optional<struct stat> Directory::status_of(const std::string& file) const {
  struct stat status {};
  const int error = error_of(fstatat(fd_.get(), file.c_str(), &status, AT_SYMLINK_NOFOLLOW));
  if (error == 0) return status;
  if (error != ENOENT) throw io_error("cannot stat", name_of(file), error);
  return std::nullopt;
}

std::optional<FdSource> Directory::open(const std::string& file, Cancel& cancel) const {
  Fd fd(openat(fd_.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (fd.error() == ENOENT) return std::nullopt;
  if (fd.get() < 0) throw io_error("cannot open", name_of(file), fd.error());
  struct stat status {};
  if (fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw IoError(fmt::format("{} is not a regular file", name_of(file)));
  return FdSource(std::move(fd), name_of(file), cancel);
}

std::vector<std::string> Directory::list() const {
  int error = 0;
  std::vector<std::string> names = names_in(Fd(openat(fd_.get(), ".", open_flags)), &error);
  if (error != 0) throw io_error("cannot read", name_, error);
  return names;
}

void Directory::remove(const std::string& file) const {
  const int error = error_of(unlinkat(fd_.get(), file.c_str(), 0));
  if (error != 0 && error != ENOENT) throw io_error("cannot remove", name_of(file), error);
}

void Directory::remove_directory(const std::string& file) const noexcept {
  unlinkat(fd_.get(), file.c_str(), AT_REMOVEDIR);
}

void Directory::sync() const {
  sync_directory(fd_, name_of("."));
}

}  // namespace gpuaes
