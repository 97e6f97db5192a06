#include "files/named_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "keys/recipient.hpp"

namespace gpuaes {

std::string NamedFile::shown() const {
  return is_standard() ? standard_input_name : name;
}

std::optional<struct stat> NamedFile::status() const {
  struct stat status {};
  const int result = is_standard() ? fstat(STDIN_FILENO, &status) : stat(name.c_str(), &status);
  return result == 0 ? std::optional(status) : std::nullopt;
}

FdSource NamedFile::open_unnamed(Cancel& cancel) const {
  return is_standard() ? open_standard_source(cancel) : open_file_source(name, cancel);
}

void refuse_secret_as_name(const std::string& name) {
  if (access(name.c_str(), F_OK) == 0) return;
  const TextKind kind = kind_of_text(name);
  if (is_identity(kind))
    throw UsageError(
        "an identity was given instead of the name of its file",
        "other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or "
        "--post-quantum");
  if (is_recipient(kind))
    throw UsageError("a recipient was given instead of a file name",
                     "use gpuaes-stream -r for recipients; keys and identities are read from files");
  if (is_address(name))
    throw UsageError("an address was given instead of a file name", "download the file first, and name it");
  constexpr std::size_t min_key_digits = 32;
  std::size_t digits = 0, max_digits = 0;
  for (const char c : name) {
    digits = std::isxdigit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
    max_digits = std::max(max_digits, digits);
  }
  if (max_digits >= min_key_digits)
    throw UsageError(
        "a key was given instead of a file name",
        "other users may have seen this command line; make a new key with gpuaes-keygen and name its file");
}

}  // namespace gpuaes
