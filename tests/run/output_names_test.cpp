// The names of outputs that --output-dir writes.

#include <string>
#include <utility>
#include <vector>

#include "run/output_names.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace gpuaes {

TEST_CASE("an output has the name of its input, with its folders, and the ending") {
  const OutputNames names(".age");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"file", "file.age"},
      {"a/b/c", "a/b/c.age"},
      {"/home/ann/x", "home/ann/x.age"},
      {"//home///ann", "home/ann.age"},
      {"./a/./b", "a/b.age"},
      {"folder/", "folder.age"},
      {"./-", "-.age"},
      {"...", "....age"},
      {"a..b/..c", "a..b/..c.age"},
      {"two words\nand \xff", "two words\nand \xff.age"},
      {"x.age", "x.age.age"},
      {".age", ".age.age"},
  };
  for (const auto& [input, output] : cases) CHECK(names.path_for(input) == output);
}

TEST_CASE("a decrypted output has the name of its input without the ending") {
  const OutputNames names("");
  CHECK(names.path_for("a/b.age") == "a/b");
  CHECK(names.path_for("/a/b.sealed/") == "a/b");
  CHECK(names.path_for("a.sealed.age") == "a.sealed");
  for (const char* const name :
       {"plain", ".age", "a/.sealed", "a.age/b", "a.AGE", "age", "..age", "...age", "a/..age", "a/...age"})
    CHECK(failure_of([&] { names.path_for(name); }) ==
          "io: the name " + std::string(name) + " does not end in .age or .sealed");
}

TEST_CASE("an output is never outside its directory") {
  for (const char* const ending : {"", ".age"}) {
    const OutputNames names(ending);
    for (const char* const name : {"..", "../a.age", "a/../b.age", "/..", "a.age/..", "./../a.age"})
      CHECK(contains(failure_of([&] { names.path_for(name); }), "usage: the name " + std::string(name)));
    for (const char* const name : {"", "/", ".", "./", "//./"})
      CHECK(failure_of([&] { names.path_for(name); }) ==
            "usage: '" + std::string(name) + "' is not the name of a file");
  }
}

TEST_CASE("two inputs cannot have the same output") {
  OutputNames names(".age");
  names.add("a/b");
  names.add("a/c");
  for (const char* const name : {"a/b", "./a//b", "/a/b", "a/b/"})
    CHECK(
        contains(failure_of([&] { names.add(name); }), "usage: " + std::string(name) + " and another input"));

  OutputNames decrypted("");
  decrypted.add("x.age");
  CHECK(contains(failure_of([&] { decrypted.add("x.sealed"); }), "have the same output, x"));
}

TEST_CASE("a file in a folder is the output of one input, by whatever path") {
  OutputNames names(".age");
  struct stat folder {
  }, other{};
  folder.st_ino = 1;
  other.st_ino = 2;
  CHECK(names.claim(folder, "x.age", "a/x"));
  CHECK(names.claim(folder, "x.age", "a/x"));  // which is tried again
  CHECK(!names.claim(folder, "x.age", "b/x"));
  CHECK(names.claim(folder, "y.age", "b/y"));
  CHECK(names.claim(other, "x.age", "b/x"));
}

}  // namespace gpuaes
