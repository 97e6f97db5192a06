#include "io/nameless_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace gpuaes {

Fd NamelessFile::create(int directory, mode_t mode) {
  Fd fd(openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  if (fd.get() < 0) return fd;
  handle_ = Fd(open(path_of_descriptor(fd.get()).c_str(), O_PATH | O_CLOEXEC));
  return handle_.get() < 0 ? Fd(-1) : std::move(fd);
}

int NamelessFile::link_to(int directory, const char* name) const {
  return linkat(AT_FDCWD, path_of_descriptor(handle_.get()).c_str(), directory, name, AT_SYMLINK_FOLLOW);
}

Fd NamelessFile::reopen() const {
  const std::string path = path_of_descriptor(handle_.get());
  chmod(path.c_str(), 0600);  // the old file may have been one that its owner cannot read
  return Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace gpuaes
