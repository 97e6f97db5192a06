#include "parts/ends.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/error.hpp"
#include "format/sealed.hpp"
#include "io/fd_source_sink.hpp"
#include "parts/job_file.hpp"
#include "run/endpoints.hpp"
#include "run/file_conflicts.hpp"
#include "run/inputs.hpp"
#include "run/parts_index.hpp"
#include "run/secrets.hpp"

namespace gpuaes {
namespace {

FdSource open_end_file(const Options& options, const char* suffix, Cancel& cancel) {
  return with_option("--ends", [&] { return open_source(options.ends + suffix, cancel); });
}

FrameSecret open_head(const Options& options, const Messages& messages, Cancel& cancel) {
  if (!options.job.empty()) return read_job(options.job, messages, cancel).secret;
  refuse_input_conflicts(options);
  Secrets secrets = read_secrets(options, messages, cancel);
  check_keys(secrets.keys);
  FdSource file = open_end_file(options, ".head", cancel);
  std::optional<FrameSecret> secret;
  name_input(file.name(), [&] {
    HeaderReader input = header_reader(file);
    const SealedHeader header = read_sealed_header(input);
    if (!header.suite.in_parts || !input.peek(1).empty())
      throw AuthError("the input is not the beginning of a file made of parts", "join --ends writes it");
    const Secret file_key = open_slots(header, make_request(std::move(secrets), options, messages, cancel));
    secret = make_frame_secret(header.suite.cipher, file_key, header.bytes, options.label);
  });
  return std::move(*secret);
}

// The header of an index that is followed by the number of parts and nothing else. None if it is malformed.
std::optional<FrameHeader> find_index(FdSource& file) {
  const std::uint64_t size = file.size().value_or(0);
  if (size < frame_header_bytes + part_count_bytes) return std::nullopt;
  const std::uint64_t count = read_part_count(file, size);
  const std::optional<FrameHeader> header = read_frame_header(file, 0);
  const bool fits = header && count >= 1 && count <= max_parts && is_index(*header, count) &&
                    size == frame_header_bytes + sealed_size(header->length) + part_count_bytes;
  return fits ? header : std::nullopt;
}

std::vector<IndexEntry> open_index_file(FdSource& file, const FrameSecret& secret) {
  const std::optional<FrameHeader> header = find_index(file);
  if (!header || !open_frame(secret, *header, {}))
    throw AuthError(
        fmt::format("{} is damaged, or belongs to another file, or was sealed with a different "
                    "label",
                    file.name()));
  std::vector<IndexEntry> entries;
  name_input(file.name(),
             [&] { entries = read_entries(file, frame_header_bytes, secret, *header, frame_header_bytes); });
  return entries;
}

}  // namespace

Ends read_ends(const Options& options, const Messages& messages, Cancel& cancel) {
  FrameSecret secret = open_head(options, messages, cancel);
  FdSource file = open_end_file(options, ".index", cancel);
  std::vector<IndexEntry> index = open_index_file(file, secret);
  return {std::move(secret), std::move(index)};
}

}  // namespace gpuaes
