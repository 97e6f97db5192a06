// Access to files on file systems that decide the mode themselves, such as vfat, simulated by an fchmod()
// that fails.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "io/fd.hpp"
#include "io/file_access.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"

namespace gpuaes {
namespace {

bool modes_are_fixed = false;

struct FixedModes {
  FixedModes() { modes_are_fixed = true; }
  ~FixedModes() { modes_are_fixed = false; }
};

Fd create_file(const std::string& name, mode_t mode) {
  write_file(name, {});
  REQUIRE(chmod(name.c_str(), mode) == 0);
  Cancel cancel;
  return open_file(name, O_RDWR, cancel);
}

}  // namespace
}  // namespace gpuaes

extern "C" int fchmod(int fd, mode_t mode) noexcept {
  if (!gpuaes::modes_are_fixed) return static_cast<int>(syscall(SYS_fchmod, fd, mode));
  errno = EPERM;
  return -1;
}

namespace gpuaes {

TEST_CASE("a file becomes private, or an error names it") {
  const TempDir directory;
  const std::string name = directory / "key";
  const Fd file = create_file(name, 0644);
  {
    const FixedModes fixed;
    CHECK(failure_of([&] { make_private(file.get(), name); }) ==
          "io: " + name +
              " would be readable by other users, because its file system does not support permissions");
    CHECK(error_of<IoError>([&] { make_private(file.get(), name); })->hint().text ==
          "choose a directory on another file system");
  }
  make_private(file.get(), name);
  CHECK(mode_of(name) == 0600);
}

TEST_CASE("access to a file that cannot be restricted is an error that names it") {
  CHECK(failure_of([] { make_private(-1, "key"); }) ==
        "io: cannot restrict access to key: Bad file descriptor");
}

TEST_CASE("a file that its file system keeps private is accepted") {
  const TempDir directory;
  const Fd file = create_file(directory / "key", 0700);
  const FixedModes fixed;
  make_private(file.get(), directory / "key");
}

TEST_CASE("a mode that cannot be widened is reported, and one that cannot be narrowed is an error") {
  const TempDir directory;
  const std::string name = directory / "out";
  const Fd file = create_file(name, 0640);
  const FixedModes fixed;
  CHECK(set_mode(file.get(), 0640, name));
  CHECK_FALSE(set_mode(file.get(), 0644, name));
  CHECK(failure_of([&] { set_mode(file.get(), 0604, name); }) ==
        "io: cannot set the mode of " + name + ": Operation not permitted");
}

TEST_CASE("keep_access() reports what it could not keep") {
  const TempDir directory;
  const Fd old = create_file(directory / "old", 0755);
  const Fd file = create_file(directory / "new", 0600);
  CHECK(keep_access(file.get(), old.get(), "new").empty());
  CHECK(mode_of(directory / "new") == 0755);
  REQUIRE(chmod((directory / "new").c_str(), 0600) == 0);
  const FixedModes fixed;
  CHECK(keep_access(file.get(), old.get(), "new") == std::vector<std::string>{"mode"});
}

}  // namespace gpuaes
