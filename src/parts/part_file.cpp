#include "parts/part_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "format/parts/files.hpp"
#include "format/parts/index.hpp"
#include "run/range_stream.hpp"

namespace gpuaes {
namespace {

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

OutputTarget member_target(const Directory& directory, const std::string& file) {
  return {.name = directory.name_of(file), .path = directory.path_of(file)};
}

SinkRules member_rules(const std::string& file, const Messages& messages) {
  return {.if_exists = TempFile::IfExists::refuse,
          .temp_prefix = attempt_prefix(file),
          .warn = [&messages](const std::string& text) { messages.warning(text); }};
}

void refuse_output_in(const Directory& directory, const OutputTarget& output) {
  struct stat there {};
  const std::filesystem::path parent = output.path.has_parent_path() ? output.path.parent_path() : ".";
  const std::optional<struct stat> here = directory.status_of(".");
  if (stat(parent.c_str(), &there) == 0 && there.st_dev == here->st_dev && there.st_ino == here->st_ino)
    throw UsageError(fmt::format("--output is in {}", directory.name()), "write to another directory");
}

std::unique_ptr<Sink> open_member(const Directory& directory, const std::string& file,
                                  const Messages& messages, Cancel& cancel) {
  return open_sink(member_target(directory, file), member_rules(file, messages), cancel);
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
