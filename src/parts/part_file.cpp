#include "parts/part_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/error.hpp"
#include "base/text.hpp"
#include "format/parts/directory.hpp"
#include "io/fd.hpp"
#include "io/naming.hpp"
#include "run/range_stream.hpp"
#include "run/work_queue.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t max_files_at_once = 16;

// The file, and reading /proc; the stack of the thread, the last segment, and what libcrypto needs.
constexpr ThreadNeeds needs_of_file{.descriptors = 2, .bytes = 2 << 20};

// Reads the whole frame header, which precedes the segments.
FrameHeader read_header(FdSource& file, Cipher cipher) {
  std::optional<FrameHeader> header;
  if (file.size().value_or(0) >= frame_header_bytes) header = read_frame_header(file, 0);
  if (!header || !is_part(*header, header->number, cipher))
    throw AuthError(fmt::format("{} is not a sealed part", file.name()));
  file.skip_to(frame_header_bytes);
  file.begin_here();
  return *header;
}

}  // namespace

// The name of the host may contain periods.
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

void for_each_at_once(std::size_t count, const std::function<void(std::size_t)>& action) {
  WorkQueue<std::size_t> queue(
      threads_for(needs_of_file, std::clamp(count, std::size_t{1}, max_files_at_once)), action);
  for (std::size_t i = 0; i < count; ++i) queue.add(i);
  queue.wait();
}

OutputTarget member_target(const Directory& directory, const std::string& file) {
  return {.name = directory.name_of(file), .path = file, .directory = directory.descriptor()};
}

SinkRules member_rules(const std::string& file, const Messages& messages) {
  return {.direct_from = large_output,
          .temp = {.if_exists = TempFile::IfExists::refuse,
                   .nameless = false,
                   .prefix = fmt::format(".{}.{}.{}.", file, host_name(), getpid())},
          .warn = messages.warner()};
}

std::unique_ptr<Sink> open_member(const Directory& directory, const std::string& file,
                                  const Context& context) {
  SinkRules rules = member_rules(file, context.messages);
  rules.keep = false;          // it can be recreated
  rules.durable_name = false;  // the caller syncs the directory
  return open_sink(member_target(directory, file), rules, context.cancel);
}

FrameHeader check_part(FdSource& file, const FrameSecret& secret) {
  const FrameHeader header = read_header(file, secret.cipher);
  const std::unique_ptr<Session> session = open_frame(secret, header, {.input_bytes = frame_header_bytes});
  if (!session)
    throw AuthError(fmt::format("{} was not sealed with this plan, or its header is damaged", file.name()));
  if (file.size() != sealed_size(header.length))
    throw AuthError(fmt::format("{} is truncated or has trailing bytes", file.name()));
  try {
    open_end(file, *session, sealed_size(header.length));
  } catch (const AuthError&) {
    throw AuthError(fmt::format("{} is corrupt at its end", file.name()));
  }
  return header;
}

std::string share_text(std::uint32_t number, std::uint32_t of) {
  return of == 0 ? fmt::format("{}", number) : fmt::format("{}/{}", number, of);
}

std::string ranges_text(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (auto first = numbers.begin(), last = first; first != numbers.end(); first = ++last) {
    while (std::next(last) != numbers.end() && *std::next(last) == *last + 1) ++last;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", *first) : fmt::format("{}-{}", *first, *last);
  }
  return text;
}

}  // namespace gpuaes
