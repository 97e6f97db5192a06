// However a list names inputs, each that is accepted has an output of its own, which is below the directory.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command_line.hpp"
#include "fuzz/fuzz.hpp"
#include "io/fd.hpp"
#include "run/inputs.hpp"
#include "run/output_names.hpp"
#include "support/files.hpp"

namespace gpuaes {
namespace {

// Lists in an empty directory. Changes to it, so libFuzzer needs absolute paths.
class Lists {
 public:
  Lists() {
    std::filesystem::current_path(directory_.path());
    messages_.set_level(Messages::Level::quiet);
  }

  void set(std::span<const std::byte> text) {
    require(ftruncate(list_.get(), 0) == 0 &&
            pwrite(list_.get(), text.data(), text.size(), 0) == std::ssize(text));
  }

  void run(char separator, InputRun& run) {
    try {
      for_each_input({.list = NamedFile{fmt::format("/dev/fd/{}", list_.get())}, .separator = separator},
                     {messages_, cancel_}, run);
    } catch (const Failed&) {
    }
  }

 private:
  TempDir directory_;
  Messages messages_{"fuzz"};
  Cancel cancel_;
  Fd list_{memfd_create("list", MFD_CLOEXEC)};
};

bool is_name(std::string_view component) {
  return !component.empty() && component != "." && component != ".." &&
         component.find('\0') == component.npos;
}

class Check : public InputRun {
 public:
  explicit Check(const std::string& ending) : names_(ending) {}

  bool leaves_out(const InputRequest& input) override {
    refuse_secret_as_name(input.file.name);
    names_.add(input.file.name);
    return false;
  }

  InputResult run(const InputRequest& input, const Context&, bool) override {
    const std::string output = names_.path_for(input.file.name);
    require(std::ranges::all_of(split(output, '/'), is_name));
    require(outputs_.insert(output).second);
    return {};
  }

 private:
  OutputNames names_;
  std::set<std::string> outputs_;
};

}  // namespace

void fuzz(std::span<const std::byte> input) {
  static Lists lists;
  lists.set(input);
  for (const char separator : {'\n', '\0'})
    for (const char* const ending : {"", ".age"}) {
      Check check(ending);
      lists.run(separator, check);
    }
}

}  // namespace gpuaes
