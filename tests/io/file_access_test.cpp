// Access to files on file systems that decide the mode themselves, such as vfat, simulated by an fchmod()
// that fails.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "io/new_file.hpp"
#include "io/output_file.hpp"
#include "support/bytes.hpp"
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

struct Umask {
  explicit Umask(mode_t mask) : before(umask(mask)) {}
  ~Umask() { umask(before); }
  const mode_t before;
};

void create_file(const std::string& name, mode_t mode) {
  write_file(name, {});
  REQUIRE(chmod(name.c_str(), mode) == 0);
}

}  // namespace
}  // namespace gpuaes

extern "C" int fchmod(int fd, mode_t mode) noexcept {
  if (!gpuaes::modes_are_fixed) return static_cast<int>(syscall(SYS_fchmod, fd, mode));
  errno = EPERM;
  return -1;
}

namespace gpuaes {

TEST_CASE("a new file that is not kept is removed, even if its directory was renamed") {
  const TempDir directory;
  const std::string before = directory / "before", after = directory / "after";
  std::filesystem::create_directory(before);
  Cancel cancel;
  {
    NewFile file({.name = "key", .path = before + "/key"}, test_bytes(10), NewFile::Access::owner, cancel);
    file.publish();
    std::filesystem::rename(before, after);
  }
  CHECK(std::filesystem::is_empty(after));
}

TEST_CASE(
    "a private file on a file system without modes is an error that names it, unless all its files are") {
  const TempDir directory;
  const std::string name = directory / "key";
  const FixedModes fixed;
  Cancel cancel;
  const auto write = [&] { write_new_file({.name = name, .path = name}, test_bytes(10), cancel); };
  {
    const Umask usual(022);
    CHECK(failure_of(write) ==
          "io: " + name +
              " would be readable by other users, because its file system does not support permissions");
    CHECK(error_of<IoError>(write)->hint().text == "choose a directory on another file system");
    CHECK(directory.count() == 0);
  }
  const Umask narrow(077);
  write();
  CHECK(mode_of(name) == 0600);
}

TEST_CASE("a mode that cannot be widened is a warning, and one that cannot be narrowed is an error") {
  const TempDir directory;
  const std::string name = directory / "out";
  Cancel cancel;
  std::string warnings;
  const auto replace = [&](mode_t mode_at_end) {
    const auto sink =
        open_sink(find_output(name), {.warn = [&](const std::string& text) { warnings += text; }}, cancel);
    REQUIRE(chmod(name.c_str(), mode_at_end) == 0);
    sink->close();
  };
  create_file(name, 0644);
  replace(0755);
  CHECK(mode_of(name) == 0755);
  CHECK(warnings.empty());

  const FixedModes fixed;
  create_file(name, 0644);
  CHECK(contains(failure_of([&] { replace(0604); }),
                 "io: cannot set the mode of " + name + ": Operation not permitted"));
  create_file(name, 0644);
  replace(0755);
  CHECK(mode_of(name) == 0644);
  CHECK(warnings == "could not preserve the mode of " + name + "; no additional access was granted");
}

}  // namespace gpuaes
