#include "parts/part_file.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "run/parts_index.hpp"
#include "run/range_stream.hpp"

namespace gpuaes {
namespace {

// Reads the whole frame header, which precedes the segments.
FrameHeader read_header(FdSource& file, Cipher cipher) {
  const std::optional<std::uint64_t> size = file.size();
  if (!size)
    throw UsageError(fmt::format("{} is not a file", file.name()), "parts can be joined only from files");
  std::optional<FrameHeader> header;
  if (*size >= frame_header_bytes) header = read_frame_header(file, 0);
  if (!header || !is_part(*header, header->number, cipher))
    throw AuthError(fmt::format("{} is not a sealed part", file.name()));
  file.skip_to(frame_header_bytes);
  file.begin_here();
  return *header;
}

}  // namespace

FrameHeader check_part(FdSource& file, const FrameSecret& secret) {
  const FrameHeader header = read_header(file, secret.cipher);
  const std::unique_ptr<Session> session = open_frame(secret, header, {.input_bytes = frame_header_bytes});
  if (!session)
    throw AuthError(fmt::format("part {} ({}) was not sealed with this job file, or its header is damaged",
                                header.number, file.name()));
  if (file.size() != sealed_size(header.length))
    throw AuthError(
        fmt::format("part {} ({}) is truncated or has trailing bytes", header.number, file.name()));
  try {
    open_end(file, *session, sealed_size(header.length));
  } catch (const AuthError&) {
    throw AuthError(fmt::format("part {} ({}) is corrupt at its end", header.number, file.name()));
  }
  return header;
}

std::string share_text(std::uint32_t number, std::uint32_t of) {
  return of == 0 ? fmt::format("{}", number) : fmt::format("{}/{}", number, of);
}

}  // namespace gpuaes
