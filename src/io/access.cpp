#include "io/access.hpp"

#include <fmt/format.h>
#include <linux/limits.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/error.hpp"
#include "io/fd.hpp"

namespace gpuaes {
namespace {

constexpr mode_t owner_only = 0700;
constexpr const char* access_acl = "system.posix_acl_access";

bool has_none() {  // as errno says
  return errno == ENODATA || errno == ENOTSUP || errno == ENOSYS;
}

bool remove_acl(int fd) {
  return fremovexattr(fd, access_acl) == 0 || has_none();
}

// Also removes an ACL that the new file inherited from its directory.
bool copy_acl(int fd, int old) {
  std::vector<char> acl(XATTR_SIZE_MAX);
  const ssize_t size = fgetxattr(old, access_acl, acl.data(), acl.size());
  if (size > 0) return fsetxattr(fd, access_acl, acl.data(), static_cast<std::size_t>(size), 0) == 0;
  return has_none() && remove_acl(fd);
}

}  // namespace

Access access_of(int fd) {
  struct stat status {};
  fstat(fd, &status);
  std::vector<char> acl(XATTR_SIZE_MAX);
  const ssize_t size = fgetxattr(fd, access_acl, acl.data(), acl.size());
  acl.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return {status.st_mode, status.st_uid, status.st_gid, std::move(acl)};
}

bool has_mode(int fd, mode_t mode) {
  struct stat now {};
  return fstat(fd, &now) == 0 && (now.st_mode & 07777) == mode;
}

bool is_readable_by_others(int fd, mode_t others) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & others) != 0;
}

// Some file systems have no modes; some report success and change nothing.
bool set_mode(int fd, mode_t mode, const std::string& name) {
  if (has_mode(fd, mode)) return true;
  const int error = fchmod(fd, mode) == 0 ? EPERM : errno;
  struct stat now {};
  if (fstat(fd, &now) != 0) throw io_error("cannot set the mode of", name, errno);
  if ((now.st_mode & 07777 & ~mode) != 0) throw io_error("cannot set the mode of", name, error);
  return (now.st_mode & 07777) == mode;
}

std::vector<std::string> keep_access(int fd, int old, std::optional<mode_t> other_mode,
                                     const std::string& name) {
  struct stat status {
  }, now{};
  if (fstat(old, &status) != 0 || fstat(fd, &now) != 0) throw io_error("cannot stat", name, errno);
  const mode_t wanted = other_mode.value_or(status.st_mode & 0777);
  mode_t mode = wanted;
  std::vector<std::string> lost;
  const auto lose = [&lost, &mode](const char* what, mode_t remaining) {
    lost.emplace_back(what);
    mode &= remaining;
  };
  // The bits for the group and for others assume the old group and ACL: without those, they would admit other
  // users.
  if (now.st_gid != status.st_gid && fchown(fd, static_cast<uid_t>(-1), status.st_gid) != 0)
    lose("group", owner_only);
  if (now.st_uid != status.st_uid && fchown(fd, status.st_uid, static_cast<gid_t>(-1)) != 0)
    lose("owner", 0777);
  if (!copy_acl(fd, old)) lose("access control list", owner_only);
  if (!set_mode(fd, mode, name) || mode != wanted) lost.emplace_back("mode");
  return lost;
}

void make_private(int fd, const std::string& name) {
  if (!remove_acl(fd)) throw io_error("cannot restrict access to", name, errno);
  struct stat status {};
  fchmod(fd, 0600);  // checked below
  if (fstat(fd, &status) != 0) throw io_error("cannot restrict access to", name, errno);
  const bool has_acl = fgetxattr(fd, access_acl, nullptr, 0) > 0;
  if ((status.st_mode & 077) != 0 || status.st_uid != geteuid() || has_acl)
    throw IoError(
        fmt::format(
            "{} would be readable by other users, because its file system does not support permissions",
            name),
        "choose a directory on another file system");
}

}  // namespace gpuaes
