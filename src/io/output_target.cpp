#include "io/output_target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "io/fd_source_sink.hpp"
#include "io/naming.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

bool is_in_proc(const OutputTarget& target) {
  struct statfs file_system {};
  return target.directory == AT_FDCWD && statfs(directory_of(target.path).c_str(), &file_system) == 0 &&
         file_system.f_type == PROC_SUPER_MAGIC;
}

// The path of the file that the symbolic link `name` led to when it was opened as `fd`. Empty if it has been
// removed.
fs::path path_of_open_file(const std::string& name, int fd, const struct stat& opened) {
  std::error_code error;
  fs::path path = fs::read_symlink(path_of_descriptor(fd), error);
  if (error) path = fs::canonical(name, error);  // without /proc
  struct stat status {};
  const bool is_same = !error && lstat(path.c_str(), &status) == 0 && is_same_inode(status, opened);
  return is_same ? path : fs::path();
}

// Standard output or error, if either is the regular file `file`. Such a file is not replaced, because
// another program may be writing to it.
std::optional<int> standard_descriptor_of(const struct stat& file) {
  struct stat status {};
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (fstat(fd, &status) == 0 && is_same_inode(status, file)) return fd;
  return std::nullopt;
}

// The name may belong to another file by now, such as one that must not be truncated.
Fd open_by_name(const OutputTarget& target, Cancel& cancel) {
  Fd fd = open_file(target.name, O_WRONLY | O_NOCTTY, cancel);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0 || !is_same_inode(status, *target.status))
    throw IoError(fmt::format("{} was replaced while it was being opened", target.name));
  if (S_ISREG(status.st_mode) && !set_size(fd.get(), 0)) throw io_error("cannot write", target.name, errno);
  return fd;
}

}  // namespace

OutputTarget find_output(const std::optional<std::string>& name, int directory) {
  OutputTarget target{.name = name.value_or(standard_output_name), .directory = directory};
  struct stat status {};
  if (!name) {
    if (fstat(STDOUT_FILENO, &status) == 0) target.status = status;
    target.standard_descriptor = STDOUT_FILENO;
    return target;
  }
  Fd file(openat(directory, name->c_str(), O_PATH | O_CLOEXEC));
  const int error = file.get() < 0 ? file.error() : error_of(fstat(file.get(), &status));
  struct stat entry {};
  const bool is_link =
      fstatat(directory, name->c_str(), &entry, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(entry.st_mode);
  if (error == ENOENT && is_link)
    target.error.emplace(fmt::format("{} is a symbolic link to a file that does not exist", *name));
  else if (error != 0 && (error != ENOENT || name->empty()))
    target.error = io_error("cannot open", *name, error);
  else
    target.path = *name;
  if (error != 0) return target;
  target.status = status;
  target.file = std::make_shared<const Fd>(std::move(file));
  if (!S_ISREG(status.st_mode)) return target;
  target.standard_descriptor = standard_descriptor_of(status);
  if (!is_link || is_in_proc(target)) return target;
  target.path = path_of_open_file(*name, target.file->get(), status);
  if (target.path.empty()) target.error = io_error("cannot open", *name, ENOENT);
  return target;
}

bool is_written_in_place(const OutputTarget& target) {
  return target.standard_descriptor || (target.status && !S_ISREG(target.status->st_mode)) ||
         is_in_proc(target);  // /dev/fd/N
}

Fd open_in_place(const OutputTarget& target, Cancel& cancel) {
  if (!target.standard_descriptor) return open_by_name(target, cancel);
  if (target.path.empty()) return Fd(*target.standard_descriptor);
  return Fd(fcntl(*target.standard_descriptor, F_DUPFD_CLOEXEC, 0));
}

}  // namespace gpuaes
