// When output files are synced to disk, in which order, and how errors are handled.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "io/file_sink.hpp"
#include "io/output_directory.hpp"
#include "io/output_file.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"

namespace {

// If set, fsync() and close() in this program call these hooks, and fail with the errno that a hook returns
// unless it is 0.
std::function<int(int fd)> on_sync, on_close;

int call(const std::function<int(int)>& hook, long number, int fd) {
  const int error = hook ? hook(fd) : 0;
  const long result = syscall(number, fd);
  if (error == 0) return static_cast<int>(result);
  errno = error;
  return -1;
}

}  // namespace

extern "C" int fsync(int fd) {
  return call(on_sync, SYS_fsync, fd);
}

extern "C" int close(int fd) {
  return call(on_close, SYS_close, fd);
}

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

// Sets a hook until destruction.
class ScopedHook {
 public:
  ScopedHook(std::function<int(int)>& hook, std::function<int(int)> action) : hook_(hook) {
    hook_ = std::move(action);
  }
  ~ScopedHook() { hook_ = nullptr; }
  ScopedHook(const ScopedHook&) = delete;
  ScopedHook& operator=(const ScopedHook&) = delete;

 private:
  std::function<int(int)>& hook_;
};

struct stat status_of(int fd) {
  struct stat status {};
  REQUIRE(fstat(fd, &status) == 0);
  return status;
}

bool is_directory(int fd, const fs::path& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  const struct stat own = status_of(fd);
  return own.st_dev == status.st_dev && own.st_ino == status.st_ino;
}

// Whether `fd` is a regular file open for writing that has `size` bytes.
bool is_written(int fd, std::size_t size) {
  const struct stat status = status_of(fd);
  return S_ISREG(status.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY &&
         static_cast<std::size_t>(status.st_size) == size;
}

// A complete but unfinished output file in a directory of its own, with or without an old file.
struct WrittenFile {
  explicit WrittenFile(bool exists) : old(exists ? test_bytes(10) : Bytes()) {
    if (exists) write_file(name, old);
    sink = open_output(name, cancel);
    sink->write(bytes);
  }

  // The contents of the file with that name; empty if there is no file.
  Bytes named() const { return fs::exists(name) ? read_file(name) : Bytes(); }

  void check_untouched() {
    sink.reset();
    CHECK(difference(named(), old) == "");
    CHECK(directory.count() == (old.empty() ? 0 : 1));
  }

  const TempDir directory;
  const std::string name = directory / "out";
  const Bytes bytes = test_bytes(100003, 7), old;
  Cancel cancel;
  std::unique_ptr<Sink> sink;
};

}  // namespace

TEST_CASE("an output file is synced before it gets its name, and its directory after that") {
  for (const bool exists : {false, true}) {
    CAPTURE(exists);
    WrittenFile file(exists);
    int files = 0, directories = 0;
    {
      const ScopedHook sync(on_sync, [&](int fd) {
        if (is_directory(fd, file.directory.path())) {
          ++directories;
          CHECK(difference(file.named(), file.bytes) == "");
        } else if (is_written(fd, file.bytes.size())) {
          ++files;
          CHECK(difference(file.named(), file.old) == "");
        }
        return 0;
      });
      file.sink->close();
    }
    CHECK(files == 1);
    CHECK(directories == 1);
  }
}

TEST_CASE("an output file is synced again if the mode of the old file changed during the first sync") {
  WrittenFile file(true);
  std::vector<fs::perms> modes{fs::status(file.name).permissions()};
  constexpr fs::perms narrower = fs::perms::owner_read | fs::perms::owner_write;
  const ScopedHook sync(on_sync, [&](int fd) {
    if (!is_written(fd, file.bytes.size())) return 0;
    modes.push_back(static_cast<fs::perms>(status_of(fd).st_mode & 0777));
    fs::permissions(file.name, narrower);
    return 0;
  });
  file.sink->close();
  CHECK(modes == std::vector{modes.front(), modes.front(), narrower});
}

TEST_CASE("the folders of many outputs are synced once, at the end") {
  const TempDir temp;
  Cancel cancel;
  OutputDirectory directory(temp / "out");
  directory.make();
  std::vector<std::string> synced;
  const std::vector<std::string> folders{"", "out", "out/a", "out/a/b"};
  const ScopedHook sync(on_sync, [&](int fd) {
    for (const std::string& folder : folders)
      if (fs::exists(temp / folder) && is_directory(fd, temp / folder)) synced.push_back(folder);
    return 0;
  });
  for (const char* const path : {"a/b/one", "a/b/two", "three"}) {
    const OutputDirectory::Place place = directory.find(path);
    const auto sink = open_sink(place.target, {.durable_name = false}, cancel);
    sink->write(test_bytes(10));
    sink->close();
  }
  CHECK(synced.empty());
  directory.sync();
  std::ranges::sort(synced);
  CHECK(synced == folders);
}

TEST_CASE("an interrupted sync is repeated") {
  WrittenFile file(false);
  int interruptions = 0;
  {
    const ScopedHook sync(on_sync, [&](int fd) {
      return is_written(fd, file.bytes.size()) && interruptions++ < 3 ? EINTR : 0;
    });
    CHECK(failure_of([&] { file.sink->close(); }) == "");
  }
  CHECK(interruptions == 4);  // 3 interruptions, and the sync
  CHECK(difference(file.named(), file.bytes) == "");
}

TEST_CASE("an output file appears even if its directory cannot be synced") {
  WrittenFile file(true);
  {
    const ScopedHook sync(on_sync,
                          [&](int fd) { return is_directory(fd, file.directory.path()) ? EINVAL : 0; });
    CHECK(failure_of([&] { file.sink->close(); }) == "");
  }
  CHECK(difference(file.named(), file.bytes) == "");
}

TEST_CASE("an output file whose directory cannot be synced is an error that names the file") {
  WrittenFile file(true);
  const ScopedHook sync(on_sync, [&](int fd) { return is_directory(fd, file.directory.path()) ? EIO : 0; });
  CHECK(failure_of([&] { file.sink->close(); }) ==
        "io: cannot sync the directory of " + file.name + ": Input/output error");
}

TEST_CASE("an error from fsync(2) or close(2) is reported, and the output file does not appear") {
  for (const bool exists : {false, true})
    for (std::function<int(int)>* const call : {&on_sync, &on_close})
      for (const int error : {EIO, ENOSPC, EDQUOT}) {
        CAPTURE(exists, call == &on_sync, error);
        WrittenFile file(exists);
        {
          const ScopedHook hook(*call, [&](int fd) { return is_written(fd, file.bytes.size()) ? error : 0; });
          CHECK(contains(failure_of([&] { file.sink->close(); }), "io: cannot write " + file.name + ": "));
        }
        file.check_untouched();
      }
}

TEST_CASE("an output file that is shorter than expected releases the space reserved for it") {
  const TempDir directory;
  struct statfs file_system {};
  REQUIRE(statfs(directory.path().c_str(), &file_system) == 0);
  if (file_system.f_type == TMPFS_MAGIC) {
    WARN("skipped: no space is reserved in tmpfs");
    return;
  }
  const std::string name = directory / "out";
  Cancel cancel;
  const auto sink = open_output(name, cancel);
  sink->expect(16 << 20);
  sink->write(test_bytes(1000));
  sink->close();
  struct stat status {};
  REQUIRE(stat(name.c_str(), &status) == 0);
  CHECK(status.st_size == 1000);
  CHECK(status.st_blocks * 512 < 1 << 20);
}

TEST_CASE("an error from close(2) is reported for an output written in place") {
  const TempDir directory;
  const std::string name = directory / "out";
  Cancel cancel;
  FileSink sink(open_file(name, O_WRONLY | O_CREAT, cancel), name, cancel);
  sink.write(test_bytes(1000));
  const ScopedHook closing(on_close, [](int fd) { return is_written(fd, 1000) ? EIO : 0; });
  CHECK(failure_of([&] { sink.finish(); }) == "io: cannot write " + name + ": Input/output error");
}

}  // namespace gpuaes
