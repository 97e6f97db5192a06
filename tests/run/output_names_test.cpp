// The names of outputs that --output-dir writes.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "run/output_names.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace gpuaes {

TEST_CASE("an output has the name of its input, with its folders, and the ending") {
  const OutputNames names("out", ".age");
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
  const OutputNames names("out", "");
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
    const OutputNames names("out", ending);
    for (const char* const name : {"..", "../a.age", "a/../b.age", "/..", "a.age/..", "./../a.age"})
      CHECK(contains(failure_of([&] { names.path_for(name); }), "usage: the name " + std::string(name)));
    for (const char* const name : {"", "/", ".", "./", "//./"})
      CHECK(failure_of([&] { names.path_for(name); }) ==
            "usage: '" + std::string(name) + "' is not the name of a file");
  }
}

TEST_CASE("two inputs cannot have the same output") {
  OutputNames names("out", ".age");
  names.add("a/b");
  names.add("a/c");
  for (const char* const name : {"a/b", "./a//b", "/a/b", "a/b/"})
    CHECK(
        contains(failure_of([&] { names.add(name); }), "usage: " + std::string(name) + " and another input"));

  OutputNames decrypted("out", "");
  decrypted.add("x.age");
  CHECK(contains(failure_of([&] { decrypted.add("x.sealed"); }), "have the same output, x"));
}

TEST_CASE("a file cannot be an input and an output, in either order and by any name") {
  const TempDir work;
  std::filesystem::create_directory(work / "real");
  std::filesystem::create_directory_symlink("real", work / "link");
  for (const char* name : {"x", "x.age"}) write_file(work / "real/" + name, {});
  std::filesystem::create_symlink("real/x.age", work / "to-x.age");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(work / "real");
  const std::string absolute = work / "real";
  for (const std::string& directory :
       {std::string("."), absolute, work / "link", work / "real/", work / "real/."})
    for (const std::string& other : {std::string("x.age"), std::string("./x.age"), absolute + "/x.age",
                                     work / "link/x.age", work / "to-x.age"}) {
      CAPTURE(directory, other);
      OutputNames forward(directory, ".age"), backward(directory, ".age");
      forward.add("x");
      CHECK(failure_of([&] { forward.add(other); }) ==
            "usage: " + other + " is also the output of another input");
      backward.add(other);
      CHECK(failure_of([&] { backward.add("x"); }) ==
            "usage: the output for x would replace x.age, which is another file of this run");
    }
  OutputNames elsewhere(work / "out", ".age");
  elsewhere.add("x");
  elsewhere.add("x.age");
  std::filesystem::current_path(before);
}

}  // namespace gpuaes
