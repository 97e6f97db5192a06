#include "parts/ends.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.hpp"
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

FdSource open_end_file(const Options& options, const char* suffix, std::vector<struct stat>& files,
                       Cancel& cancel) {
  return with_option("--ends", [&] {
    FdSource file = open_source(options.ends + suffix, cancel);
    files.push_back(file.status());
    return file;
  });
}

FrameSecret open_head(const Options& options, std::vector<struct stat>& files, const Messages& messages,
                      Cancel& cancel) {
  if (!options.job.empty()) return read_job(options.job, files, messages, cancel).secret;
  refuse_input_conflicts(options);
  const Secrets secrets = read_secrets(options, messages, cancel);
  check_keys(secrets.keys);
  files.insert(files.end(), secrets.files.begin(), secrets.files.end());
  FdSource file = open_end_file(options, ".head", files, cancel);
  std::optional<FrameSecret> secret;
  name_input(file.name(), [&] {
    HeaderReader input = header_reader(file);
    const SealedHeader header = read_sealed_header(input);
    if (!header.suite.in_parts || !input.peek(1).empty())
      throw AuthError("the input is not the beginning of a file made of parts", "join --ends writes it");
    const Secret file_key = open_slots(header, {secrets.keys, secrets.identities, secrets.passphrase},
                                       [&cancel] { cancel.check(); });
    secret = make_frame_secret(header.suite.cipher, file_key, header.bytes, options.label);
  });
  return std::move(*secret);
}

// The header of an index that is followed by the number of parts and nothing else. None if it is malformed.
std::optional<FrameHeader> find_index(FdSource& file) {
  std::array<std::byte, frame_header_bytes> bytes;
  std::array<std::byte, part_count_bytes> count_bytes;
  const std::uint64_t size = file.size().value_or(0);
  if (size < bytes.size() + count_bytes.size()) return std::nullopt;
  file.read_at(0, bytes);
  file.read_at(size - count_bytes.size(), count_bytes);
  const std::uint64_t count = load_big_endian(count_bytes);
  const std::optional<FrameHeader> header = decode_frame(bytes);
  const bool fits = header && count >= 1 && count <= max_parts && is_index(*header, count) &&
                    size == bytes.size() + sealed_size(header->length) + count_bytes.size();
  return fits ? header : std::nullopt;
}

std::vector<IndexEntry> read_index(FdSource& file, const FrameSecret& secret) {
  const std::optional<FrameHeader> header = find_index(file);
  if (!header || !open_frame(secret, *header, {}))
    throw AuthError(
        fmt::format("{} is damaged, or belongs to another file, or was sealed with a different "
                    "label",
                    file.name()));
  std::vector<std::byte> bytes;
  std::uint64_t at = frame_header_bytes;
  const auto read = [&](std::span<std::byte> out) {
    file.read_at(at, out);
    at += out.size();
  };
  name_input(file.name(), [&] {
    open_index(secret, *header, at, read, [&](std::span<const std::byte> out) { append(bytes, out); });
  });
  std::vector<IndexEntry> entries;
  for (std::span<const std::byte> rest = bytes; !rest.empty(); rest = rest.subspan(index_entry_bytes))
    entries.push_back(decode_entry(rest.first<index_entry_bytes>()));
  return entries;
}

}  // namespace

Ends read_ends(const Options& options, std::vector<struct stat>& files, const Messages& messages,
               Cancel& cancel) {
  FrameSecret secret = open_head(options, files, messages, cancel);
  FdSource file = open_end_file(options, ".index", files, cancel);
  std::vector<IndexEntry> index = read_index(file, secret);
  return {std::move(secret), std::move(index)};
}

}  // namespace gpuaes
