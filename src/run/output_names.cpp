#include "run/output_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace gpuaes {
namespace {

// The path without empty components and ".".
std::string tidy(std::string_view path) {
  std::string tidied = path.starts_with('/') ? "/" : "";
  for (const std::string_view component : split(path, '/')) {
    if (component.empty() || component == ".") continue;
    if (!tidied.empty() && tidied.back() != '/') tidied += '/';
    tidied += component;
  }
  return tidied;
}

// Removes one of the endings of encrypted files. False if the name has none, or nothing else.
bool remove_ending(std::string& path) {
  for (const std::string_view ending : OutputNames::endings)
    if (path.ends_with(ending)) {
      path.resize(path.size() - ending.size());
      return !path.empty() && path.back() != '/' && path != "." && path != ".." && !path.ends_with("/.") &&
             !path.ends_with("/..");
    }
  return false;
}

}  // namespace

bool OutputNames::has_ending(std::string_view name) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

void warn_of_ending(const std::optional<NamedFile>& output, const Format& format, const Messages& messages) {
  for (const std::string_view ending : OutputNames::endings)
    if (output && output->name.ends_with(ending) && ending.substr(1) != format.name)
      messages.warning(
          fmt::format("the output is in the {} format, but its name ends in {}", format.name, ending));
}

std::string OutputNames::path_for(const std::string& input) const {
  std::string path = tidy(input);
  if (path.starts_with('/')) path.erase(0, 1);
  check(input);
  if (path.empty()) throw UsageError(fmt::format("'{}' is not the name of a file", input));
  if (!ending_.empty()) return path + ending_;
  if (!remove_ending(path))
    throw IoError(fmt::format("the name {} does not end in .age or .sealed", input),
                  "to decrypt it, name the output with --output");
  return path;
}

void OutputNames::check(const std::string& input) {
  if (std::ranges::count(split(input, '/'), "..") > 0)
    throw UsageError(
        fmt::format("the name {} contains .., so its output could be outside the directory", input),
        "name the file without .., for example by its absolute path");
}

std::string OutputNames::add(const std::string& input) {
  const std::string path = path_for(input);
  if (!outputs_.insert(hash_of_name(path)).second)
    throw UsageError(fmt::format("{} and another input have the same output, {}", input, path));
  return path;
}

bool OutputNames::claim(const struct stat& folder, std::string_view name, const std::string& input) {
  const NameHash file = hash_of_name(fmt::format("{}:{}/{}", folder.st_dev, folder.st_ino, name)),
                 claimant = hash_of_name(input);
  const std::lock_guard lock(mutex_);
  return claimed_.emplace(file, claimant).first->second == claimant;
}

}  // namespace gpuaes
