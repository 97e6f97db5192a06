// Command lines by the rules of Go's package flag, which age and age-keygen use: a flag is -name or --name;
// its value is the next argument or follows =; flags are never combined, and end at the first other argument
// or at --.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "files/named_file.hpp"

namespace gpuaes {

// What a flag sets: a switch, the last file (none if its name is empty), all values, or all files.
using GoValue =
    std::variant<bool*, std::optional<NamedFile>*, std::vector<std::string>*, std::vector<NamedFile>*>;

struct GoFlag {
  std::array<std::string_view, 2> names;  // the second may be empty
  GoValue value;
};

// The flags cannot be parsed.
class FlagError : public UsageError {
  using UsageError::UsageError;
};

// The usage is to be printed, as for -h, -help and --help, and to end with that status.
struct UsageRequested {
  Exit exit = Exit::ok;
};

// Sets the values of the given flags. Returns the other arguments. FlagError, UsageRequested.
std::vector<std::string> parse_go_flags(int argc, const char* const* argv, std::span<const GoFlag> flags);

}  // namespace gpuaes
