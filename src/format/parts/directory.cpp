#include "format/parts/directory.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/error.hpp"

namespace gpuaes {

std::string part_name(std::uint32_t number) {
  return fmt::format("part.{:07}", number);
}

bool is_tree(const std::string& name, bool opens) {
  struct stat status {};
  if (stat(name.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  const auto has = [&name](const std::string& file) {
    return access((name + "/" + file).c_str(), F_OK) == 0;
  };
  return !opens || !has(head_name) || !(has(index_name) || has(job_name) || has(part_name(0)));
}

void require_joined(const Directory& directory, const Hint& otherwise) {
  if (directory.has(index_name)) return;
  if (directory.has(head_name))
    throw IoError(fmt::format("{} is not joined", directory.name()),
                  "when all parts are complete, run gpuaes-parts join");
  throw IoError(fmt::format("{} does not contain a sealed file in parts", directory.name()), otherwise);
}

PartsDirectory open_parts_directory(const std::string& name, Cancel& cancel) {
  Directory directory(name);
  require_joined(directory, fmt::format("to open encrypted files in it, name them, for example {}*.age",
                                        name.ends_with('/') ? name : name + "/"));
  FdSource index = open_needed(directory, index_name, cancel);
  return {std::move(directory), std::move(index), cancel};
}

FdSource open_needed(const Directory& directory, const std::string& file, Cancel& cancel) {
  std::optional<FdSource> opened = directory.open(file, cancel);
  if (!opened) throw AuthError(fmt::format("{} is missing", directory.name_of(file)));
  return std::move(*opened);
}

}  // namespace gpuaes
