// Output files, which appear complete or not at all.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "io/output_file.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("an output file appears only when it is finished") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "out";
  const auto sink = open_output(name, cancel);
  sink->write(test_bytes(1000));
  CHECK_FALSE(fs::exists(name));
  sink->finish();
  CHECK(difference(read_file(name), test_bytes(1000)) == "");
  CHECK(directory.count() == 1);
}

TEST_CASE("an output file that need not be durable also appears complete") {
  const TempDir directory;
  Cancel cancel;
  write_file(directory / "out", test_bytes(10));
  const auto sink = open_sink(find_output(directory / "out"), {.durable = false}, cancel);
  sink->write(test_bytes(100000));
  CHECK(read_file(directory / "out") == test_bytes(10));
  sink->finish();
  CHECK(read_file(directory / "out") == test_bytes(100000));
  CHECK(directory.count() == 1);
}

TEST_CASE("an unfinished output file is removed, and the old file is kept") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "out";
  open_output(name, cancel)->write(test_bytes(1000));
  CHECK(directory.count() == 0);
  write_file(name, test_bytes(10));
  open_output(name, cancel)->write(test_bytes(1000, 7));
  CHECK(difference(read_file(name), test_bytes(10)) == "");
  CHECK(directory.count() == 1);
}

TEST_CASE("an output file that is finished after a request to stop is removed, and the old file is kept") {
  const TempDir directory;
  for (const bool exists : {false, true}) {
    CAPTURE(exists);
    const std::string name = directory / "out";
    if (exists) write_file(name, test_bytes(10));
    {
      Cancel cancel;
      const auto sink = open_output(name, cancel);
      sink->write(test_bytes(1000, 7));
      cancel.request(SIGTERM);
      CHECK(failure_of([&] { sink->finish(); }) == "cancelled: 15");
    }
    CHECK(directory.count() == (exists ? 1 : 0));
    if (exists) CHECK(difference(read_file(name), test_bytes(10)) == "");
  }
}

TEST_CASE("a complete output file does not get its name if before_rename throws") {
  const TempDir directory;
  Cancel cancel;
  const std::string name = directory / "out";
  write_file(name, test_bytes(10));
  int looks = 0;
  {
    const auto look = [&] {
      ++looks;
      CHECK(directory.count() == 1);
      CHECK(read_file(name) == test_bytes(10));
      throw IoError("not now");
    };
    const auto sink = open_sink(find_output(name), {.before_rename = look}, cancel);
    sink->write(test_bytes(1000, 7));
    CHECK(looks == 0);
    CHECK(failure_of([&] { sink->finish(); }) == "io: not now");
  }
  CHECK(looks == 1);
  CHECK(read_file(name) == test_bytes(10));
  CHECK(directory.count() == 1);
}

TEST_CASE("an output file replaces the old file as a whole, and a reader of the old file keeps it") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "out";
  write_file(name, test_bytes(5000));
  FdSource old = file_source(name, cancel);
  write_output(name, test_bytes(10, 3));
  CHECK(difference(read_file(name), test_bytes(10, 3)) == "");
  CHECK(difference(read_all(old), test_bytes(5000)) == "");
}

TEST_CASE("an empty output creates a file") {
  const TempDir directory;
  write_output(directory / "out", {});
  CHECK(read_file(directory / "out").empty());
}

TEST_CASE("an output file keeps the mode of the old file, and a new file has the usual mode") {
  const TempDir directory;
  for (const mode_t mode : {0600, 0640, 0444, 0777}) {
    const std::string name = directory / ("out" + std::to_string(mode));
    write_file(name, {});
    REQUIRE(chmod(name.c_str(), mode) == 0);
    write_output(name, test_bytes(10));
    CHECK(mode_of(name) == mode);
  }
  const mode_t old = umask(027);
  write_output(directory / "new", test_bytes(10));
  const mode_t after = umask(old);
  CHECK(after == 027);
  CHECK(mode_of(directory / "new") == 0640);
}

TEST_CASE("an unfinished output file is accessible only to its owner") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "out";
  write_file(name, {});
  REQUIRE(chmod(name.c_str(), 0600) == 0);
  const auto sink = open_output(name, cancel);
  for (const auto& entry : fs::directory_iterator(directory.path()))
    CHECK((mode_of(entry.path().string()) & 077) == 0);
}

TEST_CASE("symbolic links to an output are followed and kept") {
  const TempDir directory;
  fs::create_directory(directory / "other");
  const std::string target = directory / "other/target";
  write_file(target, test_bytes(10));
  fs::create_symlink("other/target", directory / "relative");
  fs::create_symlink(target, directory / "absolute");
  fs::create_symlink("relative", directory / "chain");
  std::size_t size = 100;
  for (const std::string_view link : {"relative", "absolute", "chain"}) {
    CAPTURE(link);
    write_output(directory / link, test_bytes(++size));
    CHECK(fs::is_symlink(directory / link));
    CHECK(difference(read_file(target), test_bytes(size)) == "");
  }
  CHECK(directory.count() == 4);
}

TEST_CASE("a symbolic link to a file that does not exist is an error") {
  Cancel cancel;
  const TempDir directory;
  fs::create_symlink("target", directory / "dangling");
  fs::create_symlink("dangling", directory / "chain");
  for (const std::string_view link : {"dangling", "chain"})
    CHECK(failure_of([&] { open_output(directory / link, cancel); }) ==
          "io: " + (directory / link) + " is a symbolic link to a file that does not exist");
  CHECK(directory.count() == 2);
}

TEST_CASE("a loop of symbolic links is an error") {
  Cancel cancel;
  const TempDir directory;
  fs::create_symlink("b", directory / "a");
  fs::create_symlink("a", directory / "b");
  CHECK(contains(failure_of([&] { open_output(directory / "a", cancel); }),
                 "Too many levels of symbolic links"));
}

TEST_CASE("an output that cannot be created is an error that names it, and nothing is created") {
  Cancel cancel;
  const TempDir directory;
  const std::string missing = directory / "missing/out";
  CHECK(failure_of([&] { open_output(missing, cancel); }) ==
        "io: cannot create a temporary file next to " + missing + ": No such file or directory");
  write_file(directory / "file", {});
  CHECK(contains(failure_of([&] { open_output(directory / "file/out", cancel); }), "Not a directory"));
  CHECK(contains(failure_of([&] { open_output(directory.path(), cancel); }), "Is a directory"));
  CHECK(contains(failure_of([&] { open_output(directory / "new/", cancel); }), "io: "));
  CHECK(contains(failure_of([&] { open_output("", cancel); }), "No such file or directory"));
  CHECK(directory.count() == 1);
}

TEST_CASE("an output whose directory is removed is an error") {
  Cancel cancel;
  const TempDir directory;
  fs::create_directory(directory / "sub");
  const auto sink = open_output(directory / "sub/out", cancel);
  sink->write(test_bytes(10));
  fs::remove_all(directory / "sub");
  CHECK(contains(failure_of([&] { sink->finish(); }), "io: cannot rename the output to "));
}

TEST_CASE("an output named without a directory is created in the working directory") {
  const TempDir directory;
  const fs::path before = fs::current_path();
  fs::current_path(directory.path());
  write_output("out", test_bytes(10));
  fs::current_path(before);
  CHECK(difference(read_file(directory / "out"), test_bytes(10)) == "");
  CHECK(directory.count() == 1);
}

TEST_CASE("standard input and output are used if no file is named") {
  const TempDir directory;
  write_file(directory / "in", test_bytes(100));
  const int status = exit_of_child([&] {
    Cancel cancel;
    dup2(open((directory / "in").c_str(), O_RDONLY), STDIN_FILENO);
    dup2(open((directory / "out").c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    FdSource source = open_source("-", cancel);
    const auto sink = open_sink(find_output(std::nullopt), {}, cancel);
    sink->write(read_all(source));
    sink->finish();
    return 0;
  });
  CHECK(status == 0);
  CHECK(difference(read_file(directory / "out"), test_bytes(100)) == "");
}

TEST_CASE("a FIFO is written in place") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "fifo";
  REQUIRE(mkfifo(name.c_str(), 0600) == 0);
  const Fd reader = open_file(name, O_RDONLY | O_NONBLOCK, cancel);
  const auto sink = open_output(name, cancel);
  sink->write(test_bytes(1000));
  Bytes out(1000);
  CHECK(read(reader.get(), out.data(), out.size()) == 1000);
  CHECK(difference(out, test_bytes(1000)) == "");
  sink->finish();
  CHECK(fs::is_fifo(name));
  CHECK(directory.count() == 1);
}

TEST_CASE("devices are written in place") {
  write_output("/dev/null", test_bytes(1000));
  CHECK(fs::is_character_file("/dev/null"));
  Cancel cancel;
  const auto sink = open_output("/dev/full", cancel);
  CHECK(failure_of([&] { sink->write(test_bytes(1)); }) ==
        "io: cannot write /dev/full after byte 0: No space left on device");
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a pipe named by its descriptor is written in place") {
  Cancel cancel;
  PipeEnds pipe = make_pipe();
  for (const std::string_view directory : {"/dev/fd/", "/proc/self/fd/"}) {
    CAPTURE(directory);
    const std::string name = std::string(directory) + std::to_string(pipe.writer.get());
    CHECK(failure_of([&] {
            const auto sink = open_output(name, cancel);
            sink->write(test_bytes(100));
            sink->finish();
          }) == "");
    Bytes out(100);
    CHECK(read(pipe.reader.get(), out.data(), out.size()) == 100);
    CHECK(difference(out, test_bytes(100)) == "");
  }
}

TEST_CASE("writing to a FIFO without a reader is a PipeClosed error") {
  const IgnorePipeSignal ignore;
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "fifo";
  REQUIRE(mkfifo(name.c_str(), 0600) == 0);
  Fd reader = open_file(name, O_RDONLY | O_NONBLOCK, cancel);
  const auto sink = open_output(name, cancel);
  reader.close();
  CHECK(failure_of([&] { sink->write(test_bytes(1)); }) ==
        "pipe closed: cannot write " + name + " after byte 0: Broken pipe");
}

TEST_CASE("a terminal receives only what the rules allow", "[optional]") {
  Cancel cancel;
  const Fd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (master.get() < 0 || grantpt(master.get()) != 0 || unlockpt(master.get()) != 0)
    return skip("no pseudoterminals here");
  const std::string name = ptsname(master.get());
  using Terminal = SinkRules::Terminal;
  const auto open_for = [&](Terminal what) {
    return open_sink(find_output(name), {.terminal = what}, cancel);
  };
  const std::string escape = "\x1b[31m";
  CHECK(contains(failure_of([&] { open_for(Terminal::nothing); }),
                 "usage: refusing to write ciphertext to a terminal"));
  CHECK(failure_of([&] { open_for(Terminal::text)->write(std::as_bytes(std::span("some text\n", 10))); }) ==
        "");
  CHECK(contains(failure_of([&] { open_for(Terminal::text)->write(std::as_bytes(std::span(escape))); }),
                 "usage: refusing to write binary plaintext to a terminal"));
  CHECK(failure_of([&] { open_for(Terminal::everything)->write(std::as_bytes(std::span(escape))); }) == "");
}

}  // namespace gpuaes
