#include "io/file_access.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "io/fd.hpp"

namespace gpuaes {
namespace {

constexpr mode_t owner_only = 0700;
constexpr const char* access_acl = "system.posix_acl_access";

// Its name in messages.
constexpr const char* acl = "access control list";

// The result of a call such as getxattr(2), which is first asked for the size. None if it fails.
template <class Call>
std::optional<std::string> read_all(Call call) {
  for (;;) {
    const ssize_t size = call(nullptr, 0);
    if (size < 0) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(size), '\0');
    const ssize_t count = size == 0 ? 0 : call(bytes.data(), bytes.size());
    if (count < 0 && errno == ERANGE) continue;  // it has grown in the meantime
    if (count < 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(count));
    return bytes;
  }
}

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> each;
  for (std::size_t at = 0; at < names.size(); at += each.back().size() + 1)
    each.emplace_back(names.c_str() + at);
  return each;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The kernel computes these from the contents, which are new.
bool depends_on_contents(std::string_view attribute) {
  return attribute == "security.ima" || attribute == "security.evm";
}

bool copy_attribute(int fd, const char* path, const char* attribute) {
  const auto value =
      read_all([&](char* out, std::size_t size) { return getxattr(path, attribute, out, size); });
  const auto now = read_all([&](char* out, std::size_t size) { return fgetxattr(fd, attribute, out, size); });
  if (!value) return false;
  return value == now || fsetxattr(fd, attribute, value->data(), value->size(), 0) == 0;
}

// The extended attributes of a file. If they are not known, neither is its ACL.
struct Attributes {
  std::vector<std::string> names;
  bool known;
};

template <class Call>
Attributes attributes_of(Call call) {
  const std::optional<std::string> list = read_all(call);
  return {split(list.value_or("")), list || errno == ENOTSUP};
}

// Gives `fd` the extended attributes of `path`. Appends the names of those that cannot be set to `lost`.
void keep_attributes(int fd, const char* path, std::vector<std::string>& lost) {
  const auto [wanted, wanted_known] =
      attributes_of([&](char* out, std::size_t size) { return listxattr(path, out, size); });
  const auto [had, had_known] =
      attributes_of([&](char* out, std::size_t size) { return flistxattr(fd, out, size); });
  if (!wanted_known || !had_known) lost.emplace_back(acl);
  for (const std::string& attribute : had)  // for example from a default ACL
    if (!has(wanted, attribute) && !attribute.starts_with("security.") &&
        fremovexattr(fd, attribute.c_str()) != 0)
      lost.push_back(attribute == access_acl ? acl : attribute);
  for (const std::string& attribute : wanted)
    if (!depends_on_contents(attribute) && !copy_attribute(fd, path, attribute.c_str()))
      lost.push_back(attribute == access_acl ? acl : attribute);
}

}  // namespace

std::vector<std::string> keep_access(int fd, const std::string& path, const std::string& name) {
  struct stat old {};
  if (stat(path.c_str(), &old) != 0) throw io_error("cannot stat", name, errno);
  std::vector<std::string> lost;
  if (fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0) lost.emplace_back("group");
  if (fchown(fd, old.st_uid, static_cast<gid_t>(-1)) != 0) lost.emplace_back("owner");
  keep_attributes(fd, path.c_str(), lost);
  mode_t mode = old.st_mode & 07777;
  // A set-user-ID program must not run as another user. The bits for the group and for others assume the old
  // group and ACL; without those they would admit other users.
  if (!lost.empty()) mode &= 0777;
  if (has(lost, "group") || has(lost, acl)) mode &= owner_only;
  const bool is_narrower = mode != (old.st_mode & 07777);
  if (is_narrower && !has(lost, acl) && getxattr(path.c_str(), access_acl, nullptr, 0) > 0)
    lost.emplace_back(acl);
  if (!set_mode(fd, mode, name) || is_narrower) lost.emplace_back("mode");
  return lost;
}

// Some file systems report success and change nothing.
bool set_mode(int fd, mode_t mode, const std::string& name) {
  const int error = fchmod(fd, mode) == 0 ? EPERM : errno;
  struct stat now {};
  if (fstat(fd, &now) != 0) throw io_error("cannot set the mode of", name, errno);
  if ((now.st_mode & 07777 & ~mode) != 0) throw io_error("cannot set the mode of", name, error);
  return (now.st_mode & 07777) == mode;
}

void make_private(int fd, const std::string& name) {
  if (fremovexattr(fd, access_acl) != 0 && errno != ENODATA && errno != ENOTSUP)
    throw io_error("cannot restrict access to", name, errno);
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
