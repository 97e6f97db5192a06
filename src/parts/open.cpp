#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "parts/commands.hpp"
#include "parts/ends.hpp"
#include "parts/part_run.hpp"
#include "run/filter.hpp"

namespace gpuaes {
namespace {

// The session for the segments after the frame header, which must be that of the part in the index.
std::unique_ptr<Session> open_listed_part(const Ends& ends, std::uint32_t number, FdSource& file) {
  std::array<std::byte, frame_header_bytes> bytes;
  HeaderReader input = header_reader(file);
  std::optional<FrameHeader> header;
  if (input.peek(bytes.size()).size() == bytes.size()) {
    input.take(bytes);
    header = decode_frame(bytes);
  }
  file.begin_here();
  const bool listed = header &&
                      is_listed(*header, number, ends.index[number], ends.index.size(), ends.secret.cipher) &&
                      file.size().value_or(sealed_size(header->length)) == sealed_size(header->length);
  std::unique_ptr<Session> session;
  if (listed) session = open_frame(ends.secret, *header, {.input_bytes = frame_header_bytes, .part = number});
  if (!session)
    throw AuthError(fmt::format("{} is not the part that the index lists; nothing was written", file.name()));
  return session;
}

void open_part(const Options& options, const Ends& ends, Progress& progress, const Messages& messages,
               Cancel& cancel) {
  const Report::Start start;
  Endpoints endpoints = open_endpoints(options, find_outputs(options), messages, cancel);
  std::unique_ptr<Session> session = open_listed_part(ends, options.part.number, endpoints.source);
  const std::unique_ptr<OpenStream> stream = make_whole_stream({.source = endpoints.source,
                                                                .sink = *endpoints.output,
                                                                .session = std::move(session),
                                                                .header_bytes = frame_header_bytes,
                                                                .body_bytes = endpoints.source.size(),
                                                                .stated_bytes = options.size},
                                                               true);
  run_stream(options, start, endpoints, *stream, progress, messages, cancel);
}

}  // namespace

void run_open(Options options, const Messages& messages) {
  run_part(options, messages, [&](Progress& progress, Cancel& cancel) {
    const Ends ends = read_ends(options, messages, cancel);
    if (options.part.number >= ends.index.size())
      throw UsageError(fmt::format("the file has only {} parts", ends.index.size()),
                       "parts are numbered from 0");
    open_part(options, ends, progress, messages, cancel);
  });
}

}  // namespace gpuaes
