// Who can open a file: its owner, group, permission bits and access control list (ACL).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace gpuaes {

// Mode, owner, group and ACL.
using Access = std::tuple<mode_t, uid_t, gid_t, std::vector<char>>;
Access access_of(int fd);

bool has_mode(int fd, mode_t mode);

// Whether this is a regular file with any of the permission bits `others`.
bool is_readable_by_others(int fd, mode_t others = S_IRGRP | S_IROTH);

// Sets the mode. Returns false if the file system cannot, and access is narrower than requested. IoError if
// it would be wider.
bool set_mode(int fd, mode_t mode, const std::string& name);

// Gives the file that is open as `fd` the access of the file that is open as `old`, except that its mode may
// be another one. If a part of it cannot be kept, access becomes narrower, never wider. Returns the names of
// the properties that were lost. IoError naming `name` if the mode cannot be set.
std::vector<std::string> keep_access(int fd, int old, std::optional<mode_t> other_mode,
                                     const std::string& name);

// Restricts the file to its owner: mode 0600 and no ACL, even one inherited from the directory. IoError if
// the file system cannot.
void make_private(int fd, const std::string& name);

}  // namespace gpuaes
