#include "run/secret_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "keys/key.hpp"
#include "keys/recipient.hpp"
#include "run/file_conflicts.hpp"

namespace gpuaes {
namespace {

// Ample for any number of identities or recipients with comments. Limits how much is read from a device such
// as /dev/zero.
constexpr std::size_t max_file_bytes = 1 << 20;

}  // namespace

FdSource open_secret_file(const std::string& name, Cancel& cancel) {
  refuse_secret_as_name(name);
  return open_source(name, cancel);
}

void warn_if_readable(const std::string& name, const FdSource& file, const Messages& messages) {
  const struct stat& status = file.status();
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)) != 0)
    messages.warning(name == standard_name
                         ? std::string("the file on standard input is readable by other users")
                         : fmt::format("{0} is readable by other users; run chmod 600 {0}", name));
}

// Starts with one page, which a low RLIMIT_MEMLOCK still allows to lock and which is enough for a key.
Secret read_up_to(std::size_t max, FdSource& file) {
  Secret contents(std::min(max_key_file_bytes, max));
  for (std::size_t size = 0;;) {
    const std::size_t count = file.read(contents.bytes().subspan(size));
    size += count;
    if (count == 0 || size == max) {
      contents.shrink(size);
      return contents;
    }
    if (size < contents.size()) continue;
    Secret larger(std::min(2 * size, max));
    std::ranges::copy(contents.bytes(), larger.bytes().begin());
    contents = std::move(larger);
  }
}

Secret read_contents(FdSource& file) {
  Secret contents = read_up_to(max_file_bytes + 1, file);
  if (contents.size() > max_file_bytes)
    throw UsageError(
        fmt::format("{} is longer than {} bytes, which is too long for a file of keys or recipients",
                    file.name(), max_file_bytes));
  return contents;
}

Secret read_key_file(const std::string& name, const Messages& messages, Cancel& cancel) {
  FdSource file = open_secret_file(name, cancel);
  Secret contents = read_contents(file);
  if (!looks_like_recipient(first_content_line(as_text(contents.bytes()))))
    warn_if_readable(name, file, messages);
  return contents;
}

}  // namespace gpuaes
