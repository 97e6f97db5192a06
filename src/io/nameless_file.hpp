// A file without a name (O_TMPFILE in open(2)), which disappears even after SIGKILL.
#pragma once

#include <sys/types.h>

#include "io/fd.hpp"

namespace gpuaes {

class NamelessFile {
 public:
  // Creates the file, and opens it for writing. -1 if the file system does not support this, or without
  // /proc, through which the file gets a name.
  Fd create(int directory, mode_t mode);

  // Gives the file its first name, or another one, which must not exist. Returns 0, or -1 with errno. Once
  // its only name is removed, it cannot get another.
  int link_to(int directory, const char* name) const;

  // Opens it to read it.
  Fd reopen() const;

 private:
  Fd handle_{-1};  // O_PATH
};

}  // namespace gpuaes
