#include "run/output_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/libcrypto.hpp"
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

// Without symbolic links, as far as the path exists.
std::string canonical(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? path : found.string();
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

OutputNames::OutputNames(const std::string& directory, std::string ending)
    : directory_(canonical(directory)), ending_(std::move(ending)) {
  if (!directory_.ends_with('/')) directory_ += '/';
}

std::string OutputNames::path_for(const std::string& input) const {
  std::string path = tidy(input);
  if (path.starts_with('/')) path.erase(0, 1);
  if (std::ranges::count(split(path, '/'), "..") > 0)
    throw UsageError(
        fmt::format("the name {} contains .., so its output could be outside the directory", input),
        "name the file without .., for example by its absolute path");
  if (path.empty()) throw UsageError(fmt::format("'{}' is not the name of a file", input));
  if (!ending_.empty()) return path + ending_;
  if (!remove_ending(path))
    throw IoError(fmt::format("the name {} does not end in .age or .sealed", input),
                  "to decrypt it, name the output with --output");
  return path;
}

void OutputNames::add(const std::string& input) {
  if (const std::string place = place_of(input); !place.empty()) {
    const Hash hash = hash_of(place);
    if (outputs_.contains(hash))
      throw UsageError(fmt::format("{} is also the output of another input", input));
    protected_.insert(hash);
  }
  const std::string path = path_for(input);
  const Hash hash = hash_of(path);
  if (protected_.contains(hash))
    throw UsageError(
        fmt::format("the output for {} would replace {}, which is another file of this run", input, path));
  if (!outputs_.insert(hash).second)
    throw UsageError(fmt::format("{} and another input have the same output, {}", input, path));
}

void OutputNames::protect(const std::string& file) {
  if (const std::string place = place_of(file); !place.empty()) protected_.insert(hash_of(place));
}

// Where the file is below the directory, without symbolic links; empty if it is elsewhere.
std::string OutputNames::place_of(const std::string& file) {
  const std::size_t base = file.rfind('/') + 1;  // 0 without a slash
  const std::string folder = file.substr(0, base);
  if (last_canonical_.empty() || folder != last_folder_) {
    last_folder_ = folder;
    last_canonical_ = canonical(folder.empty() ? "." : folder);
    if (!last_canonical_.ends_with('/')) last_canonical_ += '/';
  }
  std::string path = last_canonical_ + file.substr(base);
  std::error_code error;
  if (std::filesystem::is_symlink(path, error)) path = canonical(path);
  return path.starts_with(directory_) ? path.substr(directory_.size()) : "";
}

OutputNames::Hash OutputNames::hash_of(const std::string& path) {
  std::array<std::byte, EVP_MAX_MD_SIZE> whole{};
  check_call(
      EVP_DigestFinal_ex(digest_of(EVP_sha256(), {bytes_of(path)}).get(), octets(whole.data()), nullptr) == 1,
      "EVP_DigestFinal_ex");
  Hash hash;
  std::copy_n(whole.begin(), hash.size(), hash.begin());
  return hash;
}

}  // namespace gpuaes
