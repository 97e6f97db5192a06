// Temporary names of files: random ones, which are removed unless the files get others.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "io/fd.hpp"

namespace gpuaes {

// The beginning of an output's temporary name, before random letters: .NAME.gpuaes-, where NAME may be
// shortened.
std::string temporary_prefix(int directory, const std::string& name);

// The end of the name of a complete output that could not be published.
inline constexpr std::string_view kept_suffix = ".gpuaes-kept";

// Whether a name has either form.
bool is_temporary_name(std::string_view name);

// The name of a file in an open directory, or none. The destructor removes it.
class TemporaryName {
 public:
  explicit TemporaryName(int directory, std::string name = {})
      : directory_(directory), name_(std::move(name)) {}
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName() { remove(); }

  const std::string& get() const noexcept { return name_; }
  bool empty() const noexcept { return name_.empty(); }

  // Calls `make` with names that begin with `prefix`, until one is free. Returns its result, or -1 with errno
  // and then has no name.
  int find(const std::string& prefix, const std::function<int(const char* free_name)>& make);

  // Creates a file with such a name, and opens it.
  Fd create(const std::string& prefix, mode_t mode);

  // Renames the file. Without `replace`, also by a link, and not if a file of that name exists. False with
  // errno if that fails.
  bool rename_to(const std::string& new_name, bool replace);
  bool move_to(int new_directory, const std::string& new_name);

  // Renames the file as rename_to() would, then removes it. Returns 0, or the errno value if that fails.
  int try_rename(const std::string& other, bool replace);

  // Removes the name. False with errno if that fails.
  bool remove();

  // Leaves the name to the file, and returns it.
  std::string release() { return std::exchange(name_, {}); }

 private:
  int directory_;
  std::string name_;
};

}  // namespace gpuaes
