// Conflicts between the files of a run.
#include "files/conflicts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

struct Files {
  std::vector<NamedFile> others{};  // apart from the input
  std::string input;
  std::optional<NamedFile> output{}, stats{}, trace{};
  bool written = true;
};

std::string conflict(const Files& files) {
  return failure_of([&] {
    NamedInputs named;
    for (const NamedFile& file : files.others) named.add(file);
    named.add({.name = files.input, .kind = NamedFile::Kind::data});
    prepare_inputs(named);
    OutputTargets targets = find_outputs(files.output, files.stats, files.trace);
    if (!files.written) targets.output.reset();
    refuse_output_conflicts(named, targets);
  });
}

std::string conflict(const std::string& input, const std::string& output) {
  return conflict({.input = input, .output = NamedFile{output, "--output"}});
}

bool same_output(const std::string& a, const std::string& b) {
  return is_same_output(find_output(a), find_output(b));
}

}  // namespace

TEST_CASE("two names of one output are recognized, whether or not it exists") {
  const TempDir directory;
  fs::create_directory(directory / "sub");
  fs::create_symlink("sub", directory / "link to sub");
  fs::create_symlink("sub/out", directory / "link");
  fs::create_symlink("link", directory / "chain");
  for (const bool exists : {false, true}) {
    CAPTURE(exists);
    if (exists) write_file(directory / "sub/out", {});
    const std::string name = directory / "sub/out";
    std::vector<std::string_view> names{"sub/out", "sub/./out", "sub/../sub/out", "link to sub/out"};
    if (exists) names.insert(names.end(), {"link", "chain"});
    for (const std::string_view same : names) {
      CAPTURE(same);
      CHECK(same_output(name, directory / same));
      CHECK(same_output(directory / same, name));
    }
    for (const std::string_view other : {"sub/other", "out", "sub", "sub/out.json"}) {
      CAPTURE(other);
      CHECK_FALSE(same_output(name, directory / other));
      CHECK_FALSE(same_output(directory / other, name));
    }
  }
}

TEST_CASE("hard links, devices and unresolvable names are different outputs") {
  const TempDir directory;
  write_file(directory / "file", {});
  fs::create_hard_link(directory / "file", directory / "hardlink");
  REQUIRE(mkfifo((directory / "fifo").c_str(), 0600) == 0);
  fs::create_symlink("loop", directory / "loop");
  CHECK_FALSE(same_output(directory / "file", directory / "hardlink"));  // writing replaces only one of them
  CHECK_FALSE(same_output("/dev/null", "/dev/null"));
  CHECK_FALSE(same_output(directory / "loop/a", directory / "loop/b"));
  CHECK_FALSE(same_output(directory / "missing/a", directory / "missing/b"));
}

TEST_CASE("two names of one pipe are the same output") {
  const TempDir directory;
  REQUIRE(mkfifo((directory / "fifo").c_str(), 0600) == 0);
  REQUIRE(mkfifo((directory / "other").c_str(), 0600) == 0);
  fs::create_symlink("fifo", directory / "link");
  CHECK(same_output(directory / "fifo", directory / "fifo"));
  CHECK(same_output(directory / "link", directory / "fifo"));
  CHECK_FALSE(same_output(directory / "fifo", directory / "other"));
  CHECK_FALSE(same_output(directory / "fifo", directory / "missing"));
}

TEST_CASE("an output that is the input is refused under any name") {
  const TempDir directory;
  const std::string name = directory / "file";
  write_file(name, test_bytes(100));
  fs::create_symlink("file", directory / "symlink");
  fs::create_hard_link(name, directory / "hardlink");
  for (const std::string& output :
       {name, directory / "symlink", directory / "hardlink", directory / "./file"})
    CHECK(conflict(name, output) == "usage: " + name + " and --output are the same file");
  CHECK(conflict(name, directory / "other") == "");
}

TEST_CASE("an output that is any of the input files is refused") {
  const TempDir directory;
  const std::vector<NamedFile> secrets{{"key", "--key", NamedFile::Kind::secret},
                                       {"other key", "--key", NamedFile::Kind::secret},
                                       {"recipients", "--recipients-file"}};
  std::vector<std::pair<std::string, std::string>> inputs{{"input", directory / "input"}};
  Files files{.input = directory / "input"};
  for (const NamedFile& each : secrets) {
    inputs.emplace_back(each.name, each.option);
    files.others.push_back({directory / each.name, each.option, each.kind});
  }
  for (const auto& [name, shown] : inputs) write_file(directory / name, test_bytes(100));
  const auto with = [&](const std::string& option, const std::string& name) {
    Files changed = files;
    (option == "--output"  ? changed.output
     : option == "--stats" ? changed.stats
                           : changed.trace) = NamedFile{name, option};
    return conflict(changed);
  };
  for (const std::string option : {"--output", "--stats", "--trace"}) {
    for (const auto& [name, shown] : inputs)
      CHECK(with(option, directory / name) == "usage: " + shown + " and " + option + " are the same file");
    CHECK(with(option, directory / "new") == "");
  }
  write_file(directory / "old", {});
  CHECK(with("--output", directory / "old") == "");
}

TEST_CASE("standard output that is also the input file is refused, unless nothing is written") {
  const TempDir directory;
  const std::string name = directory / "file";
  write_file(name, test_bytes(100));
  const int status = exit_of_child([&] {
    dup2(open(name.c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
    Files files{.input = name};
    const bool refused = conflict(files) == "usage: " + name + " and standard output are the same file";
    files.written = false;
    return refused && conflict(files).empty() ? 0 : 1;
  });
  CHECK(status == 0);
}

}  // namespace gpuaes
