// Who may open a file: owner, group, permission bits and access control list (ACL).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace gpuaes {

// Gives the file that is open as `fd` the owner, group, permission bits and ACL of the file that is open as
// `old`. If one of them cannot be kept, access becomes narrower, never wider. Returns the names of the
// properties that were lost. IoError naming `name` if the mode cannot be set.
std::vector<std::string> keep_access(int fd, int old, const std::string& name);

// Sets the mode. Returns false if the file system cannot, and access is narrower than requested. IoError if
// it would be wider.
bool set_mode(int fd, mode_t mode, const std::string& name);

// Restricts the file to its owner: mode 0600 and no ACL, even one inherited from the directory. IoError if
// the file system cannot.
void make_private(int fd, const std::string& name);

}  // namespace gpuaes
