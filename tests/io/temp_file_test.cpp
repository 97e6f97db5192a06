// Files that must be new, such as the keys that gpuaes-keygen writes.
#include <filesystem>
#include <iterator>
#include <string>

#include "io/temp_file.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

TempFile new_file(const std::string& name) {
  return TempFile(name, name, nullptr, "", TempFile::IfExists::refuse);
}

std::size_t count_files(const TempDir& directory) {
  const fs::directory_iterator entries(directory / "");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST_CASE("a file that must be new gets its name when it is published") {
  const TempDir directory;
  const std::string name = directory / "key";
  {
    TempFile file = new_file(name);
    put(file.take_fd(), test_bytes(100));
    REQUIRE_FALSE(fs::exists(name));
    file.publish();
  }
  REQUIRE(read_file(name) == test_bytes(100));
  REQUIRE(count_files(directory) == 1);
}

TEST_CASE("an existing name is refused before anything is created") {
  const TempDir directory;
  const std::string file = directory / "file", link = directory / "link";
  write_file(file, test_bytes(10));
  fs::create_symlink("missing", link);
  for (const std::string& name : {file, link, directory / "."}) REQUIRE_THROWS_AS(new_file(name), IoError);
  REQUIRE(read_file(file) == test_bytes(10));
  REQUIRE(count_files(directory) == 2);
}

TEST_CASE("a name taken in the meantime is refused, and its file is kept") {
  const TempDir directory;
  const std::string name = directory / "key";
  {
    TempFile file = new_file(name);
    write_file(name, test_bytes(10));
    REQUIRE_THROWS_AS(file.publish(), IoError);
  }
  REQUIRE(read_file(name) == test_bytes(10));
  REQUIRE(count_files(directory) == 1);
}

}  // namespace
}  // namespace gpuaes
