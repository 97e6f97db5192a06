// Files that options name.
#include "files/named_file.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace gpuaes {

TEST_CASE("an error of opening or reading a file names its option") {
  const TempDir directory;
  const std::string name = directory / "missing";
  Cancel cancel;
  const auto open = [&](const std::string& option) {
    return failure_of([&] { NamedFile{name, option}.open(cancel); });
  };
  CHECK(open("--key") == "io: --key: cannot open " + name + ": No such file or directory");
  CHECK(open("") == "io: cannot open " + name + ": No such file or directory");
  const NamedFile file{name, "--key"};
  CHECK(failure_of([&] { file.in_context([] { throw UsageError("it is empty"); }); }) ==
        "usage: --key: it is empty");
}

TEST_CASE("standard input has a name in messages, and a status") {
  const NamedFile standard;
  CHECK(standard.is_standard());
  CHECK(standard.shown() == "standard input");
  CHECK(standard.status().has_value());
  CHECK_FALSE(NamedFile{"/missing/file"}.status().has_value());
  CHECK(NamedFile{"./-"}.shown() == "./-");
}

}  // namespace gpuaes
