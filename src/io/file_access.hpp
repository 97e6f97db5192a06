// Who may open a file: owner, group, mode, access control list (ACL) and other extended attributes.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace gpuaes {

// Gives the file that is open as `fd` the owner, group, mode, ACL and extended attributes of the file at
// `path`, whose status is `old`. Where one of them cannot be kept, the file becomes open to fewer users and
// never to more. What could not be kept, in words. IoError, with `name`, where the mode cannot be set.
std::vector<std::string> keep_access(int fd, const std::string& path, const struct stat& old,
                                     const std::string& name);

// Sets the mode; false where the file system cannot, and access is narrower than asked for. IoError where it
// would be wider.
bool set_mode(int fd, mode_t mode, const std::string& name);

// Leaves the file to its owner alone: mode 0600, and no ACL even if the directory's default ACL gave it one.
// IoError where the file system cannot.
void make_private(int fd, const std::string& name);

}  // namespace gpuaes
