#include "format/parts/directory.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/error.hpp"

namespace gpuaes {
namespace {

AuthError missing(const Directory& directory, const std::string& file) {
  return AuthError(fmt::format("{} is missing", directory.name_of(file)),
                   "restore it from a copy; a part that is sealed again does not fit the index");
}

}  // namespace

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
  if (directory.has(head_name) || directory.has(job_name))
    throw IoError(fmt::format("{} is not joined", directory.name()),
                  "when all parts are complete, run gpuaes-parts join");
  throw IoError(fmt::format("{} does not contain a sealed file in parts", directory.name()), otherwise);
}

PartsDirectory open_parts_directory(Directory directory, const Hint& otherwise, Cancel& cancel) {
  require_joined(directory, otherwise);
  FdSource index = open_needed(directory, index_name, cancel);
  return {std::move(directory), std::move(index), cancel};
}

FdSource open_needed(const Directory& directory, const std::string& file, Cancel& cancel) {
  if (std::optional<FdSource> opened = directory.open(file, cancel)) return std::move(*opened);
  throw missing(directory, file);
}

void require_member(const Directory& directory, const std::string& file) {
  if (!directory.has(file)) throw missing(directory, file);
}

}  // namespace gpuaes
