#include "format/parts/files.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/text.hpp"

namespace gpuaes {

std::string part_name(std::uint32_t number) {
  return fmt::format("part.{:07}", number);
}

// The name of the host may contain periods, and ends before the number of the process.
std::string attempt_prefix(std::string_view file) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') host[0] = '-';
  std::ranges::replace(host, '/', '-');
  return fmt::format(".{}.{}.{}.", file, host.data(), getpid());
}

std::optional<Attempt> parse_attempt(std::string_view name) {
  const std::size_t file_bytes = name.starts_with(".part.")    ? part_name(0).size()
                                 : name.starts_with(".index.") ? sizeof index_name - 1
                                                               : 0;
  if (file_bytes == 0 || name.size() <= file_bytes + 2 || name[file_bytes + 1] != '.') return std::nullopt;
  const std::string_view rest = name.substr(file_bytes + 2);
  const std::size_t random = rest.rfind('.');
  const std::size_t pid = random == rest.npos || random == 0 ? rest.npos : rest.rfind('.', random - 1);
  if (pid == rest.npos) return std::nullopt;
  return Attempt{.file = std::string(name.substr(1, file_bytes)),
                 .host = std::string(rest.substr(0, pid)),
                 .pid = std::string(rest.substr(pid + 1, random - pid - 1))};
}

std::uint32_t count_listed(const std::vector<std::string>& names) {
  std::uint32_t count = 0;
  for (const std::string& name : names)
    if (const auto number =
            name.starts_with("part.") ? parse_number<std::uint32_t>(name.substr(5)) : std::nullopt)
      if (name == part_name(*number)) count = std::max(count, *number + 1);
  return count;
}

void require_joined(const Directory& directory) {
  if (directory.has(index_name)) return;
  if (directory.has(head_name))
    throw IoError(fmt::format("{} is not joined", directory.name()),
                  "when all parts are complete, run gpuaes-parts join");
  throw IoError(fmt::format("{} does not contain a sealed file in parts", directory.name()));
}

}  // namespace gpuaes
