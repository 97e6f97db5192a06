// Output files, which appear complete or not at all. tests/cli/output/ checks where and how they are written.

#include <atomic>
#include <filesystem>
#include <string>

#include "io/cancel.hpp"
#include "io/output_file.hpp"
#include "io/temp_file.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"
#include "support/threads.hpp"

namespace gpuaes {

TEST_CASE("an output file that need not be durable also appears complete") {
  const TempDir directory;
  Cancel cancel;
  write_file(directory / "out", test_bytes(10));
  const auto sink = open_sink(find_output(directory / "out"), {.durable = false}, cancel);
  sink->write(test_bytes(100000));
  CHECK(read_file(directory / "out") == test_bytes(10));
  sink->close();
  CHECK(read_file(directory / "out") == test_bytes(100000));
  CHECK(directory.count() == 1);
}

TEST_CASE("a complete output file does not get its name if the check throws") {
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
    const auto sink = open_sink(find_output(name), {.check = look}, cancel);
    sink->write(test_bytes(1000, 7));
    CHECK(looks == 0);
    CHECK(failure_of([&] { sink->close(); }) == "io: not now");
  }
  CHECK(looks == 1);
  CHECK(read_file(name) == test_bytes(10));
  CHECK(directory.count() == 1);
}

TEST_CASE("an output whose directory is removed is an error") {
  Cancel cancel;
  const TempDir directory;
  std::filesystem::create_directory(directory / "sub");
  const auto sink = open_output(directory / "sub/out", cancel);
  sink->write(test_bytes(10));
  std::filesystem::remove_all(directory / "sub");
  CHECK(contains(failure_of([&] { sink->close(); }), "io: cannot rename the output to "));
}

TEST_CASE("the name of a new file that is taken in the meantime is refused, and its file is kept") {
  const TempDir directory;
  const std::string name = directory / "key";
  {
    TempFile file({.name = name, .path = name}, {.if_exists = TempFile::IfExists::refuse});
    write_file(name, test_bytes(10));
    CHECK_THROWS_AS(file.publish(), IoError);
  }
  CHECK(read_file(name) == test_bytes(10));
  CHECK(directory.count() == 1);
}

TEST_CASE("another process that takes the name of a new file may remove its temporary file at any time") {
  const TempDir directory;
  const std::string name = directory / "part", prefix = ".part.";
  std::atomic<bool> is_over = false;
  auto other = in_thread([&] {
    while (!is_over)
      for (const auto& entry : std::filesystem::directory_iterator(directory / ""))
        if (entry.path().filename().string().starts_with(prefix)) {
          write_file(name, test_bytes(10));
          std::filesystem::remove(entry.path());
        }
  });
  for (int round = 0; round < 5000; ++round) {
    const std::string failure = failure_of([&] {
      TempFile file(
          {.name = name, .path = name},
          {.if_exists = TempFile::IfExists::refuse, .nameless = false, .prefix = prefix, .try_naming = true});
      file.publish();
    });
    CHECK((failure.empty() || failure == "io: " + std::string(file_exists(name).what())));
    std::filesystem::remove(name);
  }
  is_over = true;
  other.get();
}

}  // namespace gpuaes
