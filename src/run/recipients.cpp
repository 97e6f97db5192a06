#include "run/recipients.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "base/texts.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/recipient.hpp"

namespace gpuaes {
namespace {

// Far more than a file sealed for 32 recipients needs, comments and all, so that /dev/zero ends soon.
constexpr std::size_t max_file_bytes = 1 << 20;

// It may be the file of an identity, by mistake.
Secret read_file(const std::string& name, std::vector<struct stat>& files, Cancel& cancel) {
  FdSource file = open_source(name, cancel);
  files.push_back(file.status());
  Secret contents(max_file_bytes + 1);
  for (std::size_t size = 0;;) {
    const std::size_t count = file.read(contents.bytes().subspan(size));
    size += count;
    if (count == 0) return contents.shrink(size), std::move(contents);
    if (size > max_file_bytes)
      throw UsageError(fmt::format(text::recipients_too_long, file.name(), max_file_bytes));
  }
}

std::string_view trim(std::string_view line) {
  constexpr const char* blanks = " \t\r";
  const std::size_t begin = std::min(line.find_first_not_of(blanks), line.size());
  return line.substr(begin, line.find_last_not_of(blanks) + 1 - begin);
}

void read_lines(const std::string& name, const Secret& contents, std::vector<PublicKey>& recipients) {
  std::string_view text(reinterpret_cast<const char*>(contents.bytes().data()), contents.size());
  const std::size_t before = recipients.size();
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    recipients.push_back(parse_recipient(line, fmt::format(text::line_of_file, number, name)));
  }
  if (recipients.size() == before)
    throw UsageError(fmt::format(text::no_recipient, name), text::recipient_hint);
}

// A text that begins as a recipient does is one, and may be shown; anything else may be a secret.
PublicKey parse_argument(const std::string& text) {
  if (is_like_recipient(text)) return parse_recipient(text, fmt::format("-r {}", text));
  if (!is_like_identity(text) && access(text.c_str(), F_OK) == 0)
    throw UsageError(fmt::format(text::recipient_is_file, text), text::recipient_is_file_hint);
  return parse_recipient(text, text::recipient_unshown);
}

}  // namespace

std::vector<PublicKey> read_recipients(const std::vector<std::string>& given, std::vector<struct stat>& files,
                                       Cancel& cancel) {
  std::vector<PublicKey> recipients;
  for (const std::string& each : given)
    if (each.starts_with('@'))
      read_lines(shown_name(each.substr(1)), read_file(each.substr(1), files, cancel), recipients);
    else
      recipients.push_back(parse_argument(each));
  return recipients;
}

}  // namespace gpuaes
