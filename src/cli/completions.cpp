#include "cli/completions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"
#include "cli/completion_scripts.hpp"

namespace gpuaes {
namespace {

struct Shell {
  std::string_view name;
  std::string (*completions)(const CompletedProgram& program);
};

// To add a shell: add its row here and its function to completion_scripts.hpp, and install what it prints in
// CMakeLists.txt.
constexpr std::array shells{
    Shell{"bash", bash_completions},
    Shell{"zsh", zsh_completions},
    Shell{"fish", fish_completions},
};

}  // namespace

std::vector<std::string_view> shell_names() {
  return names_of(shells);
}

std::string completions(const CompletedProgram& program, std::string_view shell) {
  const auto found = std::ranges::find(shells, shell, &Shell::name);
  if (found != shells.end()) return found->completions(program);
  throw UsageError(fmt::format("unknown shell '{}'", shell),
                   fmt::format("the shells are {}", join(shell_names())));
}

ArgumentKind kind_of(const OptionText& option) {
  const std::string_view argument = option.argument;
  if (option.words != nullptr) return ArgumentKind::words;
  if (argument == "FILE") return ArgumentKind::files;
  return argument == "RECIPIENT" ? ArgumentKind::files_after_at : ArgumentKind::nothing;
}

std::string words_of(const OptionText& option) {
  return fmt::format("{}", fmt::join(option.words(), " "));
}

std::string quote(std::string_view text) {
  std::string quoted;
  for (const char each : text)
    if (each == '\'')
      quoted += R"('\'')";
    else
      quoted += each;
  return fmt::format("'{}'", quoted);
}

}  // namespace gpuaes
