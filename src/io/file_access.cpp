#include "io/file_access.hpp"

#include <fmt/format.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "io/fd.hpp"
#include "texts.hpp"

namespace gpuaes {
namespace {

constexpr const char* access_acl = "system.posix_acl_access";

// As a user is told of what was lost.
constexpr const char* acl = "access control list";
constexpr mode_t owner_only = 0700;

// What a call like getxattr(2) returns, which asks for the size first. None where it fails.
template <class Call>
std::optional<std::string> read_all(Call call) {
  for (;;) {
    const ssize_t size = call(nullptr, 0);
    if (size < 0) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(size), '\0');
    const ssize_t count = size == 0 ? 0 : call(bytes.data(), bytes.size());
    if (count < 0 && errno == ERANGE) continue;  // it has grown
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

// These two are about the contents, which are new. The kernel writes them.
bool is_of_contents(std::string_view attribute) {
  return attribute == "security.ima" || attribute == "security.evm";
}

bool copy_attribute(int fd, const char* path, const char* attribute) {
  const auto value =
      read_all([&](char* out, std::size_t size) { return getxattr(path, attribute, out, size); });
  const auto now = read_all([&](char* out, std::size_t size) { return fgetxattr(fd, attribute, out, size); });
  if (!value) return false;
  return value == now || fsetxattr(fd, attribute, value->data(), value->size(), 0) == 0;
}

// Makes the extended attributes of `fd` those of `path`, and adds the names of those that it cannot to
// `lost`.
void keep_attributes(int fd, const char* path, std::vector<std::string>& lost) {
  const auto list = read_all([&](char* out, std::size_t size) { return listxattr(path, out, size); });
  if (!list && errno != ENOTSUP) lost.emplace_back(acl);
  const std::vector<std::string> wanted = split(list.value_or(""));
  const auto had = read_all([&](char* out, std::size_t size) { return flistxattr(fd, out, size); });
  for (const std::string& attribute : split(had.value_or("")))  // a default ACL may have given it some
    if (!has(wanted, attribute) && !attribute.starts_with("security.") &&
        fremovexattr(fd, attribute.c_str()) != 0)
      lost.push_back(attribute == access_acl ? acl : attribute);
  for (const std::string& attribute : wanted)
    if (!is_of_contents(attribute) && !copy_attribute(fd, path, attribute.c_str()))
      lost.push_back(attribute == access_acl ? acl : attribute);
}

}  // namespace

std::vector<std::string> keep_access(int fd, const std::string& path, const struct stat& old,
                                     const std::string& name) {
  std::vector<std::string> lost;
  if (fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0) lost.emplace_back("group");
  if (fchown(fd, old.st_uid, static_cast<gid_t>(-1)) != 0) lost.emplace_back("owner");
  keep_attributes(fd, path.c_str(), lost);
  mode_t mode = old.st_mode & 07777;
  // Programs that run as their owner must not run as another one. And the bits of the group, and of all
  // others, say what only those outside of a group or of an ACL may do: they mean something else for another
  // group or ACL.
  if (!lost.empty()) mode &= 0777;
  if (has(lost, "group") || has(lost, acl)) mode &= owner_only;
  if (!set_mode(fd, mode, name)) lost.emplace_back("mode");
  return lost;
}

bool set_mode(int fd, mode_t mode, const std::string& name) {
  struct stat now {};
  if (fstat(fd, &now) != 0) throw io_error(text::cannot_set_mode, name, errno);
  if ((now.st_mode & 07777) == mode || fchmod(fd, mode) == 0) return true;
  if ((now.st_mode & 07777 & ~mode) != 0) throw io_error(text::cannot_set_mode, name, errno);
  return false;
}

void make_private(int fd, const std::string& name) {
  if (fremovexattr(fd, access_acl) != 0 && errno != ENODATA && errno != ENOTSUP)
    throw io_error(text::cannot_make_private, name, errno);
  struct stat status {};
  fchmod(fd, 0600);  // the status below decides
  if (fstat(fd, &status) != 0) throw io_error(text::cannot_make_private, name, errno);
  const bool has_acl = fgetxattr(fd, access_acl, nullptr, 0) > 0;
  if ((status.st_mode & 077) != 0 || status.st_uid != geteuid() || has_acl)
    throw IoError(fmt::format(text::not_private, name), text::not_private_hint);
}

}  // namespace gpuaes
