#include "io/temporary_name.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "io/naming.hpp"

namespace gpuaes {
namespace {

constexpr int max_name_tries = 100;
constexpr std::string_view mark = ".gpuaes-";

}  // namespace

std::string temporary_prefix(int directory, const std::string& name) {
  return fmt::format(".{}{}", shortened_name(directory, name, 1 + mark.size() + random_letters), mark);
}

bool is_temporary_name(std::string_view name) {
  const std::size_t at = name.rfind(mark);
  if (at == name.npos || at < 2 || name.front() != '.') return false;
  const std::string_view end = name.substr(at + mark.size());
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  return end == kept_suffix.substr(mark.size()) ||
         (end.size() == random_letters && std::ranges::all_of(end, is_letter));
}

int TemporaryName::find(const std::string& prefix, const std::function<int(const char* free_name)>& make) {
  for (int tries = 0;; ++tries) {
    name_ = with_random_letters(prefix);
    const int result = make(name_.c_str());
    if (result >= 0) return result;
    if (errno != EEXIST || tries == max_name_tries) return name_.clear(), result;
  }
}

Fd TemporaryName::create(const std::string& prefix, mode_t mode) {
  return Fd(find(prefix, [&](const char* free_name) {
    return openat(directory_, free_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  }));
}

bool TemporaryName::rename_to(const std::string& new_name, bool replace) {
  if (!replace) return move_to(directory_, new_name);
  if (renameat(directory_, name_.c_str(), directory_, new_name.c_str()) != 0) return false;
  name_.clear();
  return true;
}

bool TemporaryName::move_to(int new_directory, const std::string& new_name) {
  if (!give_new_name(directory_, name_, new_directory, new_name)) return false;
  name_.clear();
  return true;
}

int TemporaryName::try_rename(const std::string& other, bool replace) {
  if (replace) close(openat(directory_, other.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const int error = rename_to(other, replace) ? 0 : errno;
  remove();
  if (error == 0 || replace) unlinkat(directory_, other.c_str(), 0);
  return error;
}

bool TemporaryName::remove() {
  return name_.empty() || unlinkat(directory_, std::exchange(name_, {}).c_str(), 0) == 0;
}

}  // namespace gpuaes
