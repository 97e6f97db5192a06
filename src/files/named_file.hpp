// A file that a command line names.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/subject.hpp"
#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

// The name of standard input and output. A file of that name is "./-".
inline constexpr std::string_view standard_name = "-";

struct NamedFile {
  enum class Kind { secret, data, other };

  std::string name{standard_name};
  std::string option{};  // that names it; empty for an argument
  Kind kind = Kind::other;

  bool operator==(const NamedFile&) const = default;
  bool is_standard() const { return name == standard_name; }
  std::string shown() const;                  // its name in messages
  std::optional<struct stat> status() const;  // none if there is no such file

  // Returns `use()`, which may open the file with open_unnamed(), and read it. Errors name the option.
  template <class Use>
  auto in_context(const Use& use) const {
    return name_subject(option, use);
  }
  FdSource open_unnamed(Cancel& cancel) const;

  // Opens the file, or standard input. IoError, which names the option.
  FdSource open(Cancel& cancel) const {
    return in_context([&] { return open_unnamed(cancel); });
  }
};

// UsageError if a file name is a key, identity or recipient instead and no such file exists. Secrets must not
// appear in messages, which may be logged.
void refuse_secret_as_name(const std::string& name);

}  // namespace gpuaes
