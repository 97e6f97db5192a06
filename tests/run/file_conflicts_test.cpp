// Files that may not be the same.
#include "run/file_conflicts.hpp"

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

std::string conflict(const Options& options, const std::vector<std::string>& inputs) {
  std::vector<struct stat> in_use(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) REQUIRE(stat(inputs[i].c_str(), &in_use[i]) == 0);
  return failure_of([&] {
    refuse_input_conflicts(options);
    refuse_output_conflicts(options, in_use);
  });
}

std::string conflict(const std::string& input, const std::string& output) {
  Options options;
  options.input = input;
  options.output = output;
  return conflict(options, {input});
}

}  // namespace

TEST_CASE("an output that is the input is refused, by whatever name") {
  const TempDir directory;
  const std::string name = directory / "file";
  write_file(name, test_bytes(100));
  fs::create_symlink("file", directory / "symlink");
  fs::create_hard_link(name, directory / "hardlink");
  for (const std::string& output :
       {name, directory / "symlink", directory / "hardlink", directory / "./file"})
    CHECK(conflict(name, output) == "io: " + output + " cannot be both input and output");
  CHECK(conflict(name, directory / "other") == "");
}

TEST_CASE("an output that is any of the files that are read is refused") {
  const TempDir directory;
  for (const std::string_view name : {"input", "key", "other key", "words", "recipients", "new key"})
    write_file(directory / name, test_bytes(100));
  Options options;
  options.input = directory / "input";
  options.key_files = {directory / "key", directory / "other key"};
  options.passphrase_file = directory / "words";
  options.recipients = {fmt::format("@{}", directory / "recipients")};
  options.new_key_files = {directory / "new key"};
  const auto with = [&](std::optional<std::string> Options::*output, const std::string& name) {
    Options changed = options;
    changed.*output = name;
    return conflict(changed, {directory / "input", directory / "key", directory / "other key",
                              directory / "words", directory / "recipients", directory / "new key"});
  };
  for (const auto output : {&Options::output, &Options::stats, &Options::trace}) {
    for (const std::string_view name : {"input", "key", "other key", "words", "recipients", "new key"})
      CHECK(with(output, directory / name) ==
            "io: " + (directory / name) + " cannot be both input and output");
    CHECK(with(output, directory / "new") == "");
  }
  write_file(directory / "old", {});
  CHECK(with(&Options::output, directory / "old") == "");
}

TEST_CASE("a file that is replaced may be its own input, but no other") {
  const TempDir directory;
  write_file(directory / "input", test_bytes(100));
  Options options;
  options.input = directory / "input";
  options.in_place = true;
  CHECK(conflict(options, {}) == "");
  options.recipients = {fmt::format("@{}", options.input)};
  CHECK(conflict(options, {options.input}) == "io: " + options.input + " cannot be both input and output");
}

TEST_CASE("a device may be read and written at once") {
  CHECK(conflict("/dev/null", "/dev/null") == "");
}

TEST_CASE("the input as standard output is refused, unless nothing is written") {
  const TempDir directory;
  const std::string name = directory / "file";
  write_file(name, test_bytes(100));
  const int status = exit_of_child([&] {
    dup2(open(name.c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
    Options options;
    options.input = name;
    const bool refused = conflict(options, {name}) == "io: standard output cannot be both input and output";
    options.test = true;
    return refused && conflict(options, {name}).empty() ? 0 : 1;
  });
  CHECK(status == 0);
}

}  // namespace gpuaes
