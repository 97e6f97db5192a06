// A directory for many outputs. tests/cli/many_files/ checks how it is used.

#include <unistd.h>

#include <filesystem>
#include <string>

#include "io/cancel.hpp"
#include "io/output_directory.hpp"
#include "io/output_file.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

void write(OutputDirectory& directory, const std::string& path, Cancel& cancel) {
  const OutputDirectory::Place place = directory.find(path);
  const auto sink = open_sink(place.target, {.durable_name = false}, cancel);
  sink->write(test_bytes(100));
  sink->close();
}

}  // namespace

TEST_CASE("an output directory and its folders are made") {
  const TempDir temp;
  Cancel cancel;
  OutputDirectory directory(temp / "out");
  directory.make();
  CHECK(fs::is_directory(temp / "out"));
  write(directory, "file", cancel);
  write(directory, "a/b/c", cancel);
  write(directory, "a/b/d", cancel);
  directory.sync();
  for (const char* const name : {"out/file", "out/a/b/c", "out/a/b/d"})
    CHECK(read_file(temp / name) == test_bytes(100));
  CHECK(temp.count() == 1);
}

TEST_CASE("an output directory keeps its descriptor when it is renamed") {
  const TempDir temp;
  Cancel cancel;
  OutputDirectory directory(temp / "out");
  directory.make();
  fs::rename(temp / "out", temp / "moved");
  fs::create_directory(temp / "out");
  write(directory, "a/b", cancel);
  CHECK(fs::is_empty(temp / "out"));
  CHECK(read_file(temp / "moved/a/b") == test_bytes(100));
}

TEST_CASE("an output directory does not follow links below it") {
  const TempDir temp;
  Cancel cancel;
  fs::create_directories(temp / "elsewhere/folder");
  write_file(temp / "elsewhere/file", test_bytes(1));
  fs::create_directory(temp / "real");
  fs::create_directory_symlink("real", temp / "out");
  OutputDirectory directory(temp / "out");
  directory.make();
  fs::create_directory_symlink("../elsewhere", temp / "out/folder");
  fs::create_symlink("../elsewhere/file", temp / "out/file");
  fs::create_symlink("../elsewhere/new", temp / "out/dangling");
  for (const char* const name : {"folder/x", "folder/folder/x", "file/x"})
    CHECK(contains(failure_of([&] { directory.find(name); }), "io: cannot open the directory "));
  for (const char* const name : {"file", "dangling"})
    CHECK(failure_of([&] { directory.find(name); }) ==
          "io: " + temp / "out/" + name + " is a symbolic link and is not replaced");
  CHECK(contains(failure_of([&] { directory.find("folder"); }), "is a symbolic link"));
  CHECK(read_file(temp / "elsewhere/file") == test_bytes(1));
  CHECK(fs::is_empty(temp / "elsewhere/folder"));
  CHECK(!fs::exists(temp / "elsewhere/new"));
}

TEST_CASE("a link that replaces an output is replaced, and not followed") {
  const TempDir temp;
  Cancel cancel;
  write_file(temp / "elsewhere", test_bytes(1));
  OutputDirectory directory(temp / "out");
  directory.make();
  write_file(temp / "out/file", test_bytes(2));
  const OutputDirectory::Place place = directory.find("file");
  const auto sink = open_sink(place.target, {.durable_name = false}, cancel);
  sink->write(test_bytes(100));
  fs::remove(temp / "out/file");
  fs::create_symlink("../elsewhere", temp / "out/file");
  sink->close();
  CHECK(read_file(temp / "elsewhere") == test_bytes(1));
  CHECK(fs::is_regular_file(fs::symlink_status(temp / "out/file")));
  CHECK(read_file(temp / "out/file") == test_bytes(100));
}

TEST_CASE("what is not a regular file is not replaced") {
  const TempDir temp;
  OutputDirectory directory(temp / "out");
  directory.make();
  fs::create_directory(temp / "out/folder");
  CHECK(contains(failure_of([&] { directory.find("folder"); }), "is not a regular file"));
  write_file(temp / "file", test_bytes(1));
  CHECK(
      contains(failure_of([&] { OutputDirectory(temp / "file").make(); }), "io: cannot open the directory"));
  CHECK(
      contains(failure_of([&] { OutputDirectory(temp / "no/folder").make(); }), "No such file or directory"));
}

TEST_CASE("an output directory contains itself and the folders below it, by any path") {
  const TempDir temp;
  fs::create_directories(temp / "out/a/b");
  fs::create_directory(temp / "output");
  fs::create_directory_symlink("out/a", temp / "link");
  const OutputDirectory directory(temp / "out");
  for (const char* const name : {"out", "out/", "out/a/b", "output/../out/a", "link", "link/b"})
    CHECK(directory.contains(temp / name));
  for (const char* const name : {"", "output", "out/..", "missing"}) CHECK(!directory.contains(temp / name));
  CHECK(!OutputDirectory(temp / "missing").contains(temp / "missing"));
}

TEST_CASE("a time is that of an input only if it is exactly what the file system stores") {
  const TempDir temp;
  OutputDirectory directory(temp / "out");
  directory.make();
  const OutputDirectory::Place place = directory.find("file");
  for (const timespec time : {timespec{1'700'000'000, 123'456'789}, timespec{1'700'000'000, 0}}) {
    CHECK(directory.is_stored_time(place, time, time));
    for (const timespec other :
         {timespec{time.tv_sec, time.tv_nsec + 1}, timespec{time.tv_sec + 1, time.tv_nsec},
          timespec{time.tv_sec - 1, time.tv_nsec}, timespec{0, 0}})
      CHECK(!directory.is_stored_time(place, other, time));
  }
  CHECK(fs::is_empty(temp / "out"));
}

}  // namespace gpuaes
