#include "cli/go_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace gpuaes {
namespace {

constexpr std::array<std::string_view, 6> true_words{"1", "t", "T", "TRUE", "true", "True"},
    false_words{"0", "f", "F", "FALSE", "false", "False"};

// Sets a flag that was given by this name.
struct Setter {
  const GoFlag& flag;
  const std::string &name, &value;

  void operator()(bool* on) const {
    *on = std::ranges::count(true_words, value) > 0;
    if (!*on && std::ranges::count(false_words, value) == 0)
      throw FlagError(fmt::format("invalid boolean value \"{}\" for -{}", value, name));
  }
  void operator()(std::optional<NamedFile>* last) const {
    *last = value.empty() ? std::nullopt : std::optional(file());
  }
  void operator()(std::vector<std::string>* all) const { all->push_back(value); }
  void operator()(std::vector<NamedFile>* all) const { all->push_back(file()); }

  NamedFile file() const { return {value, fmt::format("-{}", flag.names.front())}; }
};

const GoFlag& find(std::span<const GoFlag> flags, const std::string& name) {
  const auto found = std::ranges::find_if(
      flags, [&](const GoFlag& flag) { return std::ranges::count(flag.names, name) > 0; });
  if (found != flags.end()) return *found;
  if (name == "h" || name == "help") throw UsageRequested{};
  throw FlagError(fmt::format("flag provided but not defined: -{}", name));
}

}  // namespace

std::vector<std::string> parse_go_flags(int argc, const char* const* argv, std::span<const GoFlag> flags) {
  std::span<const char* const> rest(argv + std::min(argc, 1), argv + argc);
  while (!rest.empty()) {
    const std::string_view word = rest.front();
    if (word.size() < 2 || word.front() != '-') break;
    rest = rest.subspan(1);
    if (word == "--") break;
    std::string name(word.substr(word.starts_with("--") ? 2 : 1));
    if (name.starts_with('-') || name.starts_with('='))
      throw FlagError(fmt::format("bad flag syntax: {}", word));
    std::optional<std::string> value;
    if (const std::size_t equals = name.find('='); equals != name.npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const GoFlag& flag = find(flags, name);
    if (!value && std::holds_alternative<bool*>(flag.value)) value = "true";
    if (!value && rest.empty()) throw FlagError(fmt::format("flag needs an argument: -{}", name));
    if (!value) {
      value = rest.front();
      rest = rest.subspan(1);
    }
    std::visit(Setter{flag, name, *value}, flag.value);
  }
  return {rest.begin(), rest.end()};
}

}  // namespace gpuaes
